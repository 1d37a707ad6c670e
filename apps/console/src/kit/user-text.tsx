import { printUserText } from './print-user-text.js';

/** Renders a user's text as plain text, with its own direction, and truncated at the limit. */
export function UserText({ text, maxLength }: { text: string; maxLength?: number }) {
  return <bdi>{printUserText(text, maxLength)}</bdi>;
}
