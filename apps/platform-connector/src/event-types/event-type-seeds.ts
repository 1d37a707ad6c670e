import { isActiveByDefault, type EventType } from '@stream-events/platforms';
import type { EventTypeChoice } from './event-type-choice.entity.js';

/** The rows that the service adds and deactivates at start. */
export interface EventTypeSeeds {
  add: EventTypeChoice[];
  /** Versions that a newer version replaces. */
  retire: EventTypeChoice[];
}

/**
 * Finds the types that are new in the catalogue. Users' choices stay unchanged, except that a newer version of a type takes over
 * the choice of the older one. Otherwise, the service would subscribe to both.
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
    const isActive = known.length > 0 ? wasActive : isActiveByDefault(type, platform);
    add.push({ type, version, active: isNewest && isActive });
    if (isNewest) retire.push(...known.filter(({ active }) => active));
  }
  return { add, retire };
}
