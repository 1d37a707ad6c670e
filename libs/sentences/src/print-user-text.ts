/** Invisible characters, including those that change the direction of surrounding text. Keeps tabs, line feeds, and the joiner in emoji. */
const hidden = /(?![\t\n\u200d])[\p{Cc}\p{Cf}]/gu;

/** Makes a user's text safe to show in a line: removes hidden characters, joins its lines, and cuts it after `maxLength` characters. */
export function printUserText(text: string, maxLength = 300): string {
  // The text can be long, so cut it roughly before the other steps. A character has at most two code units.
  const start = text.length > maxLength * 2 ? text.slice(0, maxLength * 2) : text;
  const visible = start.replace(hidden, '').replace(/\s+/g, ' ').trim();
  const characters = Array.from(visible);
  return characters.length > maxLength || start !== text
    ? `${characters.slice(0, maxLength).join('')}…`
    : visible;
}
