/** Characters that change the direction of the text around them, or that cannot be seen. */
const hidden = /(?![\t\n\u200d])[\p{Cc}\p{Cf}]/gu;

/** Makes text of users safe to show within a line: without hidden characters, and not longer than the limit. */
export function printUserText(text: string, maxLength = 300): string {
  // Cut first, because the text may be long. Cut between characters, not within one.
  const start = text.length > maxLength * 2 ? text.slice(0, maxLength * 2) : text;
  const visible = start.replace(hidden, '').replace(/\s+/g, ' ').trim();
  const characters = Array.from(visible);
  return characters.length > maxLength || start !== text
    ? `${characters.slice(0, maxLength).join('')}…`
    : visible;
}
