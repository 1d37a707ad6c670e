import { readData } from './read-data.js';

/** An event type in one version, as the platform defines it (FACTS.md §5). */
export interface EventType {
  /** The platform's spelling: `stream.online`. */
  type: string;
  version: string;
  /** The keys that a subscription's condition must have. */
  condition: string[];
  /** The keys that the condition can also have. */
  condition_optional: string[];
  /** The condition must have exactly one of these keys. Empty when there is no such rule. */
  condition_exactly_one_of: string[];
  /** Groups of scopes. The user must grant one scope from each group. */
  scopes: string[][];
  /**
   * Scopes that a subscription with an app access token also needs. `channel:bot` is needed only when the user does not moderate the
   * channel.
   */
  app_token_extra_scopes: string[];
  transports: string[];
  description: string;
  /**
   * The top-level fields of an event and their kinds: `string`, `integer`, `boolean`, `object`, or a list (`string[]`). `?` marks a field
   * that can be missing; `|null` marks a field that can be null.
   */
  fields: Record<string, string>;
  note: string | null;
  /** Details in this row that no official page confirms. */
  unverified: string[];
}

/** All 83 types and versions, grouped by type. The newest version of a type comes last in its group. */
export const eventTypes = readData('event-types') as readonly EventType[]; // Safe cast: event-types.spec.ts checks the data.

/** Finds a type in the given version, or by default in its newest version. */
export function findEventType(type: string, version?: string): EventType | undefined {
  return eventTypes.findLast(
    (row) => row.type === type && (version === undefined || row.version === version),
  );
}
