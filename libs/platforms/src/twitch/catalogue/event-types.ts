import { readData } from './read-data.js';

/** A type of event in one version, as the platform has it (docs/platform-facts.md §5). */
export interface EventType {
  /** As the platform writes it: `stream.online`. */
  type: string;
  version: string;
  /** Keys that a subscription's condition must have. */
  condition: string[];
  /** Keys that it may have. */
  condition_optional: string[];
  /** Keys of which it must have exactly one; none when empty. */
  condition_exactly_one_of: string[];
  /** Groups of scopes: of each group, one must be granted by the user. */
  scopes: string[][];
  /** Scopes that an app's own token needs besides; `channel:bot` only where the user does not moderate the channel. */
  app_token_extra_scopes: string[];
  transports: string[];
  description: string;
  /**
   * The top-level fields of an event: `string`, `integer`, `boolean`, `object`, or lists of them (`string[]`); with `?` when it may be
   * missing, `|null` when it may be null.
   */
  fields: Record<string, string>;
  note: string | null;
  /** What no official page has confirmed. */
  unverified: string[];
}

/** All 83 types and versions, by type; of one type the newest version comes last. */
export const eventTypes = readData('event-types') as readonly EventType[]; // holds: event-types.spec.ts checks the data

/** The type and version; the newest version without one. */
export function findEventType(type: string, version?: string): EventType | undefined {
  return eventTypes.findLast(
    (row) => row.type === type && (version === undefined || row.version === version),
  );
}
