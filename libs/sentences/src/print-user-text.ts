/** Invisible characters, including those that change the direction of the text around them. */
const hidden = /(?![\t\n\u200d])[\p{Cc}\p{Cf}]/gu;

/** Makes a user's text safe to show within a line: removes hidden characters and cuts the text at the limit. */
export function printUserText(text: string, maxLength = 300): string {
  // Cut first, because the text may be long. Cut between characters, not within one.
  const start = text.length > maxLength * 2 ? text.slice(0, maxLength * 2) : text;
  const visible = start.replace(hidden, '').replace(/\s+/g, ' ').trim();
  const characters = Array.from(visible);
  return characters.length > maxLength || start !== text
    ? `${characters.slice(0, maxLength).join('')}…`
    : visible;
}
