/** Parses a time of the API. Replaces the offset `+0000` of platform events with `+00:00`, which every JavaScript engine parses. */
export function parseTime(text: string): Date {
  return new Date(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
}
