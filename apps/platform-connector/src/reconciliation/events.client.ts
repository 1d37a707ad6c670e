import { Injectable } from '@nestjs/common';
import { beginOverlaps, endOverlaps, maxOverlaps, type EndingOverlap } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';

/** Sends requests to the events service. All methods throw ServiceError when the events service does not reply. */
@Injectable()
export class EventsClient {
  constructor(private readonly client: RequestClient) {}

  /**
   * Announces which subscriptions will get a second subscription. Returns the milliseconds until all events
   * services know it. Create the second ones only after a reply of 0.
   */
  async beginOverlaps(keys: readonly string[]): Promise<number> {
    let longest = 0;
    for (const subscriptions of partsOf(keys)) {
      const { readyInMs } = await this.client.request(beginOverlaps, { subscriptions });
      longest = Math.max(longest, readyInMs);
    }
    return longest;
  }

  /** Announces the end of overlaps. From `endedAt` (in milliseconds since 1970), only one subscription of each pair counts. */
  async endOverlaps(ending: readonly EndingOverlap[], endedAt: number): Promise<void> {
    for (const overlaps of partsOf(ending)) await this.client.request(endOverlaps, { overlaps, endedAt });
  }
}

function partsOf<T>(keys: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(keys.length / maxOverlaps) }, (_, part) =>
    keys.slice(part * maxOverlaps, (part + 1) * maxOverlaps),
  );
}
