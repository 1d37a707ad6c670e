import type { EventType } from '@stream-events/platforms';
import type { EventTypeChoice } from './event-type-choice.entity.js';
import { isActiveAtFirst } from './event-type-rules.js';

/** What a start adds to the choices, and which versions it retires. */
export interface EventTypeSeeds {
  add: EventTypeChoice[];
  /** Versions whose choice a newer one has taken over. */
  retire: EventTypeChoice[];
}

/**
 * The rows that are new to the catalogue. What was chosen is never changed; a newer version of a type takes the choice over, or
 * everybody would be subscribed to both.
 */
export function seedEventTypes(
  catalogue: readonly EventType[],
  chosen: readonly EventTypeChoice[],
  platform: string,
): EventTypeSeeds {
  const newestOf = new Map(catalogue.map(({ type, version }) => [type, version]));
  const add: EventTypeChoice[] = [];
  const retire: EventTypeChoice[] = [];
  for (const { type, version } of catalogue) {
    const known = chosen.filter((choice) => choice.type === type);
    if (known.some((choice) => choice.version === version)) continue;
    const isNewest = newestOf.get(type) === version;
    const wasActive = known.some(({ active }) => active);
    const isActive = known.length > 0 ? wasActive : isActiveAtFirst(type, platform);
    add.push({ type, version, active: isNewest && isActive });
    if (isNewest) retire.push(...known.filter(({ active }) => active));
  }
  return { add, retire };
}
