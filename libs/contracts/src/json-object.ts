/** A JSON object, whatever is in it. */
export type JsonObject = Record<string, unknown>;

/** Whether a parsed JSON value is an object: not null, not a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
