/** Parses an API time. Platform events have the offset `+0000`; only `+00:00` works in every JavaScript engine. */
export function parseTime(text: string): Date {
  return new Date(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
}
