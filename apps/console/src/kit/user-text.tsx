import { printUserText } from './print-user-text.js';

/** Text of users: always text, in its own direction, and never longer than the limit. */
export function UserText({ text, maxLength }: { text: string; maxLength?: number }) {
  return <bdi>{printUserText(text, maxLength)}</bdi>;
}
