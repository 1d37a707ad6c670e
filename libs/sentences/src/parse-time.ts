/** Parses a time of the API, which has the offset `+0000` in stored events. */
export function parseTime(text: string): Date {
  return new Date(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
}
