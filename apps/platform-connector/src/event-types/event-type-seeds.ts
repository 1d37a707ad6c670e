import { isActiveByDefault, type EventType } from '@stream-events/platforms';
import type { EventTypeChoice } from './event-type-choice.entity.js';

/** The versions of event types to add, and to deactivate, when the service starts. */
export interface EventTypeSeeds {
  add: EventTypeChoice[];
  /** Active versions that are replaced by a newer one. */
  retire: EventTypeChoice[];
}

/**
 * Finds the versions of types that are new in the catalog. Keeps users' choices, with one exception: if an older version is active, the
 * newest version replaces it. The service must not subscribe to two versions of a type.
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
