import { printUserText } from './print-user-text.js';

/** Renders a platform user's text as plain text with its own direction. Truncates it at `maxLength`. */
export function UserText({ text, maxLength }: { text: string; maxLength?: number }) {
  return <bdi>{printUserText(text, maxLength)}</bdi>;
}
