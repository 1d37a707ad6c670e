import { readData } from './read-data.js';

/** An event type in one version, as the platform defines it (docs/platform-facts.md §5). */
export interface EventType {
  /** The platform's spelling: `stream.online`. */
  type: string;
  version: string;
  /** Required keys of a subscription's condition. */
  condition: string[];
  /** Optional keys of the condition. */
  condition_optional: string[];
  /** The condition must have exactly one of these keys; empty when this rule does not apply. */
  condition_exactly_one_of: string[];
  /** Groups of scopes. The user must grant one scope of each group. */
  scopes: string[][];
  /** Additional scopes that an app token needs. `channel:bot` is needed only when the user does not moderate the channel. */
  app_token_extra_scopes: string[];
  transports: string[];
  description: string;
  /**
   * The top-level fields of an event: `string`, `integer`, `boolean`, `object`, or lists of them (`string[]`). `?` marks a field that can
   * be missing, and `|null` marks a field that can be null.
   */
  fields: Record<string, string>;
  note: string | null;
  /** Details that no official page confirms. */
  unverified: string[];
}

/** All 83 types and versions, sorted by type. The newest version of a type comes last. */
export const eventTypes = readData('event-types') as readonly EventType[]; // Safe cast: event-types.spec.ts checks the data.

/** Finds a type in this version, or in its newest version when none is given. */
export function findEventType(type: string, version?: string): EventType | undefined {
  return eventTypes.findLast(
    (row) => row.type === type && (version === undefined || row.version === version),
  );
}
