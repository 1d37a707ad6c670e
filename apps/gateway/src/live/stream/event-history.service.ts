import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, Registry, type Counter, type Logger } from '@stream-events/service';
import { ErasedMessages } from './erased-messages.js';
import { EventsStreamClient, type StreamMessage } from './events-stream-client.js';
import { LiveEvent } from './live-event.js';
import { PageCache, type EventPage } from './page-cache.js';
import { pageLength, type FoundMessages } from './page-reader.js';
import { PageReaders } from './page-readers.js';
import { untilAborted } from './until-aborted.js';
import { maxRingBufferBytes } from '../live-limits.js';
import { gatewayMetrics } from '../../metrics.js';

/** The next events on the stream, or why they cannot be read. */
export type HistoryPage =
  | {
      kind: 'events';
      /** In the order of the stream. Can be empty. */
      events: readonly LiveEvent[];
      /** The sequence at which to continue. */
      next: number;
    }
  /** Events from `from` on have left the stream. The first sequence that can still be read is `firstSequence`. */
  | { kind: 'expired'; firstSequence: number }
  /** The stream has another epoch now. */
  | { kind: 'other_epoch' };

export interface Place {
  epoch: string;
  from: number;
  /** The last sequence to read. The stream must already have reached this sequence. */
  until: number;
}

// After a crash, the relay republishes about its last second of events, because they may be missing on the stream. The history drops a
// repeated event if its first copy is at most this many pages earlier and that page is cached.
const pagesOfRepetitions = 8;
// Time limit for reading a page. Reading takes milliseconds, but waiting for a free reader can take longer.
const readLimitMs = 5_000;

/**
 * Reads events that are older than the ring buffer, with a few consumers for any number of clients. Pages begin at fixed sequences
 * (1, 129, 257, …), so that clients that read the same part of the stream share the same pages.
 */
@Injectable()
export class EventHistory {
  private readonly cache = new PageCache(maxRingBufferBytes);
  private readonly loading = new Map<string, Promise<EventPage | undefined>>();
  private readonly readers: PageReaders;
  private readonly pagesTotal: Counter<'source'>;
  private readonly failures: FailureLog;
  /** Number of calls to `forget`. Pages that were requested before the latest call are not cached. */
  private generation = 0;

  constructor(
    private readonly stream: EventsStreamClient,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
    @Inject(ErasedMessages) private readonly erased: Pick<ErasedMessages, 'wereErased'>,
  ) {
    this.failures = new FailureLog(logger);
    this.readers = new PageReaders(stream);
    this.pagesTotal = gatewayMetrics.live_history_pages_total.create(metrics);
  }

  /**
   * Reads up to one page of events from `from` on, never beyond `until`. If only erasures removed the messages between `from` and the start
   * of the stream, skips them instead of reporting `expired`.
   *
   * @throws if the page cannot be read within 5 s; the signal's reason when the signal aborts
   */
  async read(place: Place, signal: AbortSignal): Promise<HistoryPage> {
    const page = await this.readStream(place, signal);
    if (page.kind !== 'expired') return page;
    const { epoch, from } = place;
    const wereErased = await this.erased.wereErased(epoch, from, page.firstSequence - 1);
    return wereErased ? { kind: 'events', events: [], next: page.firstSequence } : page;
  }

  /** Forgets all pages, because they may contain events of an erased user. */
  forget(): void {
    this.generation += 1;
    this.cache.clear();
    this.readers.forget();
  }

  private async readStream(place: Place, signal: AbortSignal): Promise<HistoryPage> {
    const { epoch, from } = place;
    const start = from - ((from - 1) % pageLength);
    const last = Math.min(start + pageLength - 1, place.until);
    const key = `${epoch}-${start}`;
    for (;;) {
      signal.throwIfAborted();
      const cached = this.cache.get(key);
      if (cached && cached.lastSequence >= last) {
        this.pagesTotal.inc({ source: 'memory' });
        return cut(cached, from, last);
      }
      const loading = this.loading.get(key) ?? this.load(key, { epoch, from: start, until: last });
      const page = await untilAborted(loading, signal);
      if (!page) return { kind: 'other_epoch' };
      // Another caller may have started this read when the stream was shorter. If the page ends too early, read it again.
      if (page.lastSequence >= last) return cut(page, from, last);
    }
  }

  /** Reads a page once for all callers that wait for this page. Returns undefined if the stream has another epoch. */
  private load(key: string, place: Place): Promise<EventPage | undefined> {
    const signal = AbortSignal.timeout(readLimitMs);
    const page = untilAborted(this.readPage(place, signal), signal).finally(() => this.loading.delete(key));
    this.loading.set(key, page);
    // Log the failure here, once for all callers. The callers only retry, and may all have left by now.
    page.catch((err: unknown) =>
      this.failures.warn('cannot read a page of older events for live clients, retrying', {
        err,
        from: place.from,
      }),
    );
    return page;
  }

  private async readPage(place: Place, signal: AbortSignal): Promise<EventPage | undefined> {
    if (!this.stream.isConnected) throw new Error('NATS is unavailable');
    const { generation } = this;
    return this.readers.use(place.from, signal, async (reader) => {
      const found = await reader.read(place.from + pageLength - 1, place.until);
      // Check the epoch after reading. If the stream was replaced during the read, the messages can be from the new stream.
      const state = await this.stream.find();
      if (!state) throw new Error('the EVENTS stream does not exist');
      this.pagesTotal.inc({ source: 'stream' });
      if (state.epoch !== place.epoch) return undefined;
      const page = toPage(place, {
        ...found,
        streamBegins: state.firstSequence,
        before: this.idsBefore(place),
      });
      if (generation === this.generation) this.keep(place, page);
      return page;
    });
  }

  /** Caches a page, and removes second copies of its events from later pages that are already cached. */
  private keep({ epoch, from }: Place, page: EventPage): void {
    const ids = new Set(page.events.map(({ id }) => id));
    for (let count = 1; count <= pagesOfRepetitions; count += 1) {
      const key = `${epoch}-${from + count * pageLength}`;
      const later = this.cache.get(key);
      const events = later?.events.filter(({ id }) => !ids.has(id)) ?? [];
      if (later && events.length < later.events.length) this.cache.set(key, { ...later, events });
    }
    this.cache.set(`${epoch}-${from}`, page);
  }

  /** Returns the ids of the events on the cached pages right before a page. When a client reads page after page, these pages are cached. */
  private idsBefore({ epoch, from }: Place): Set<string> {
    const ids = new Set<string>();
    for (let count = 1; count <= pagesOfRepetitions; count += 1) {
      const page = this.cache.get(`${epoch}-${from - count * pageLength}`);
      for (const { id } of page?.events ?? []) ids.add(id);
    }
    return ids;
  }
}

function toPage(
  { epoch, from }: Place,
  {
    messages,
    lastSequence,
    streamBegins,
    before: ids,
  }: FoundMessages & { streamBegins: number; before: Set<string> },
): EventPage {
  return {
    events: messages.flatMap((message) => toEvent(epoch, message)).filter(({ id }) => addNew(ids, id)),
    // A hole between the start of the page and its first message does not make the page incomplete.
    firstSequence: streamBegins <= from ? from : findBeginning(messages, streamBegins),
    lastSequence,
  };
}

/**
 * Returns the sequence from which the page is complete. Messages that left the stream after they were read still count, unless a hole
 * separates them from the start of the stream.
 */
function findBeginning(messages: readonly StreamMessage[], streamBegins: number): number {
  const sequences = new Set(messages.map(({ sequence }) => sequence));
  let first = streamBegins;
  while (sequences.has(first - 1)) first -= 1;
  return first;
}

/** Returns whether the id was new. */
function addNew(ids: Set<string>, id: string): boolean {
  return ids.size < ids.add(id).size;
}

function toEvent(epoch: string, { id, data, sequence }: StreamMessage): LiveEvent[] {
  return id === undefined ? [] : [new LiveEvent(id, Buffer.from(data.buffer), epoch, sequence)];
}

function cut({ events, firstSequence }: EventPage, from: number, last: number): HistoryPage {
  if (firstSequence > from) return { kind: 'expired', firstSequence };
  const wanted = events.filter(({ sequence }) => sequence >= from && sequence <= last);
  return { kind: 'events', events: wanted, next: last + 1 };
}
