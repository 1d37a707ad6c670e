import { Inject, Injectable } from '@nestjs/common';
import { listEvents, type ListPosition, type StoredEvent } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import {
  parseStoredEvent,
  streamEventTypes,
  UnreadableEventError,
} from '../stream-events/stream-event.external.js';
import type { StreamEvent } from '../streams/stream-recorder.service.js';

const pageSize = 100;

// An id below every event id.
const lowestId = '00000000-0000-0000-0000-000000000000';

/** A streamer's stream events from the event store. */
export interface LoggedEvents {
  /** In no particular order. */
  events: StreamEvent[];
  /** The ids of all stream events, including unreadable ones. */
  ids: Set<string>;
}

/** Reads a streamer's stream events from the event store. */
@Injectable()
export class EventLog {
  private readonly failures: FailureLog;

  constructor(
    private readonly client: RequestClient,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
  }

  /** Returns the id of the oldest event of any streamer; undefined when the store is empty. */
  async readOldestId(): Promise<string | undefined> {
    const position: ListPosition = { direction: 'newer', id: lowestId, inclusive: true };
    const page = await this.client.request(listEvents, { filters: {}, limits: {}, pageSize: 1, position });
    return page.events[0]?.id;
  }

  /** Skips and logs unreadable events, like the consumer. */
  async read(platformId: string): Promise<LoggedEvents> {
    const logged: LoggedEvents = { events: [], ids: new Set() };
    for (const eventType of streamEventTypes) {
      let position: ListPosition | null | undefined;
      do {
        const filters = { eventType, broadcasterUserId: platformId };
        const page = await this.client.request(listEvents, {
          filters,
          limits: {},
          pageSize,
          ...(position && { position }),
        });
        for (const event of page.events) {
          logged.ids.add(event.id);
          logged.events.push(...this.parse(event));
        }
        position = page.next;
      } while (position);
    }
    return logged;
  }

  private parse(event: StoredEvent): StreamEvent[] {
    try {
      const read = parseStoredEvent(event);
      return read ? [read] : [];
    } catch (err) {
      if (!(err instanceof UnreadableEventError)) throw err;
      this.failures.warn('stream event is unreadable, skipping it in the rebuild', { err, event: event.id });
      return [];
    }
  }
}
