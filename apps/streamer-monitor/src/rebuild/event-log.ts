import { Injectable } from '@nestjs/common';
import { listEvents, type ListPosition, type StoredEvent } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import {
  parseStoredEvent,
  streamEventTypes,
  UnreadableEventError,
} from '../stream-events/stream-event.external.js';
import type { StreamEvent } from '../streams/stream-recorder.service.js';

const pageSize = 100;

// Below the id of every event.
const lowestId = '00000000-0000-0000-0000-000000000000';

/** Reads a streamer's stream events from the event store. */
@Injectable()
export class EventLog {
  constructor(private readonly client: RequestClient) {}

  /** Returns the id of the oldest event in the store, of any streamer; undefined when the store is empty. */
  async readOldestId(): Promise<string | undefined> {
    const position: ListPosition = { direction: 'newer', id: lowestId, inclusive: true };
    const page = await this.client.request(listEvents, { filters: {}, pageSize: 1, position });
    return page.events[0]?.id;
  }

  /** Returns all stream events of the streamer, in no order. Skips unreadable events, as the consumer does. */
  async read(platformId: string): Promise<StreamEvent[]> {
    const events: StreamEvent[] = [];
    for (const eventType of streamEventTypes) {
      let position: ListPosition | null | undefined;
      do {
        const filters = { eventType, broadcasterUserId: platformId };
        const page = await this.client.request(listEvents, {
          filters,
          pageSize,
          ...(position && { position }),
        });
        events.push(...page.events.flatMap(readEvent));
        position = page.next;
      } while (position);
    }
    return events;
  }
}

function readEvent(event: StoredEvent): StreamEvent[] {
  try {
    const read = parseStoredEvent(event);
    return read ? [read] : [];
  } catch (error) {
    if (error instanceof UnreadableEventError) return [];
    throw error;
  }
}
