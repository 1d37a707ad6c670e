/**
 * Control characters, characters that change the direction of surrounding text, and the byte order mark. Other invisible characters belong to
 * texts: joiners to Persian words, and tags to the flags of England, Scotland, and Wales.
 */
const hidden = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\ufeff]/gu;
/** What surrounds a message that was written with `/me`. */
const action = { start: '\u0001ACTION ', end: '\u0001' };
const halfCharacter = /[\ud800-\udbff]$/;

/** Makes a user's text safe to show in a line: removes hidden characters, joins its lines, and cuts it after `maxLength` characters. */
export function printUserText(text: string, maxLength = 300): string {
  // The text can be long, so cut it before the other steps. A character can consist of two code units: do not keep half of one.
  const isAction = text.startsWith(action.start) && text.endsWith(action.end);
  const written = isAction ? text.slice(action.start.length, -action.end.length) : text;
  const start =
    written.length > maxLength * 2 ? written.slice(0, maxLength * 2).replace(halfCharacter, '') : written;
  const visible = start.replace(hidden, '').replace(/\s+/g, ' ').trim();
  const characters = Array.from(visible);
  return characters.length > maxLength || start !== written
    ? `${characters.slice(0, maxLength).join('')}…`
    : visible;
}
