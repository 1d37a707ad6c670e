import type { JsonObject } from '@stream-events/contracts';
import type { EventType } from './event-types.js';
import { readData } from './read-data.js';

const examples = readData('event-examples') as Readonly<Record<string, JsonObject>>; // Safe cast: event-schemas.spec.ts checks it.

/** Returns the example event that the simulator sends for a type. `npm run generate` writes the examples. */
export function exampleOf({ type, version }: EventType): JsonObject {
  const event = examples[`${type}/${version}`] ?? {};
  return type === 'drop.entitlement.grant' ? { events: [event] } : event;
}
