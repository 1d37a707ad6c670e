/** Invisible characters, including those that change the direction of surrounding text. */
const hidden = /(?![\t\n\u200d])[\p{Cc}\p{Cf}]/gu;

/** Makes a user's text safe to show in a line: removes hidden characters and cuts it at `maxLength`. */
export function printUserText(text: string, maxLength = 300): string {
  // The text can be long, so cut it before the other steps. Cut between characters.
  const start = text.length > maxLength * 2 ? text.slice(0, maxLength * 2) : text;
  const visible = start.replace(hidden, '').replace(/\s+/g, ' ').trim();
  const characters = Array.from(visible);
  return characters.length > maxLength || start !== text
    ? `${characters.slice(0, maxLength).join('')}…`
    : visible;
}
