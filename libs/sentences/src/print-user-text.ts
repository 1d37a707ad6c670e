/** Invisible characters, including those that change the direction of surrounding text. Keeps tabs, line feeds, and the joiner in emoji. */
const hidden = /(?![\t\n\u200d])[\p{Cc}\p{Cf}]/gu;
const halfCharacter = /[\ud800-\udbff]$/;

/** Makes a user's text safe to show in a line: removes hidden characters, joins its lines, and cuts it after `maxLength` characters. */
export function printUserText(text: string, maxLength = 300): string {
  // The text can be long, so cut it before the other steps. A character can consist of two code units: do not keep half of one.
  const start = text.length > maxLength * 2 ? text.slice(0, maxLength * 2).replace(halfCharacter, '') : text;
  const visible = start.replace(hidden, '').replace(/\s+/g, ' ').trim();
  const characters = Array.from(visible);
  return characters.length > maxLength || start !== text
    ? `${characters.slice(0, maxLength).join('')}…`
    : visible;
}
