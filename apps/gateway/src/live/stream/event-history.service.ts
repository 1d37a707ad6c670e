import { Inject, Injectable } from '@nestjs/common';
import { Counter, FailureLog, LOGGER, Registry, type Logger } from '@stream-events/service';
import { ErasedMessages } from './erased-messages.js';
import { EventsStreamClient, type StreamMessage } from './events-stream-client.js';
import { LiveEvent } from './live-event.js';
import { PageCache, type EventPage } from './page-cache.js';
import { pageLength, type FoundMessages } from './page-reader.js';
import { PageReaders } from './page-readers.js';
import { untilAborted } from './until-aborted.js';
import { maxRingBufferBytes } from '../live-limits.js';

/** The next events on the stream from a sequence on. */
export type HistoryPage =
  | {
      kind: 'events';
      /** In order. Can be empty. */
      events: readonly LiveEvent[];
      /** The sequence at which to continue. */
      next: number;
    }
  /** The events have left the stream, which now begins at `firstSequence`. */
  | { kind: 'expired'; firstSequence: number }
  /** The stream has another epoch now. */
  | { kind: 'other_epoch' };

/** The range to read. */
export interface Place {
  epoch: string;
  from: number;
  /** A sequence that the stream is known to have. */
  until: number;
}

// After a crash, the relay republishes the events that may be missing on the stream: those of its last second or so. A second
// copy of an event, up to this many pages after the first, is dropped: a client that reads this far has received the first copy.
const pagesOfRepetitions = 8;
// Reading a page takes milliseconds, plus the wait for the pages before it.
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
  /** Number of calls of `forget`. Pages that were requested before the latest one are not cached. */
  private generation = 0;

  constructor(
    private readonly stream: EventsStreamClient,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
    @Inject(ErasedMessages) private readonly erased: Pick<ErasedMessages, 'wereErased'>,
  ) {
    this.failures = new FailureLog(logger);
    this.readers = new PageReaders(stream);
    this.pagesTotal = new Counter({
      name: 'live_history_pages_total',
      help: 'Pages of older events for live clients, by source: read from the stream, or shared from memory',
      labelNames: ['source'],
      registers: [metrics],
    });
  }

  /**
   * Reads up to a page of events from `from` on, never beyond `until`. Skips messages at the start of the stream that were erased: they
   * have not expired, although the stream begins after them.
   *
   * @throws if NATS does not respond; the signal's reason
   */
  async read(place: Place, signal: AbortSignal): Promise<HistoryPage> {
    const page = await this.readStream(place, signal);
    if (page.kind !== 'expired') return page;
    const { epoch, from } = place;
    const wereErased = await this.erased.wereErased(epoch, from, page.firstSequence - 1);
    return wereErased ? { kind: 'events', events: [], next: page.firstSequence } : page;
  }

  /** Forgets all pages, because they may have events of an erased user. */
  forget(): void {
    this.generation += 1;
    this.cache.clear();
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
      // The caller that started this read may have known an earlier end of the stream. If so, read the page again.
      if (page.lastSequence >= last) return cut(page, from, last);
    }
  }

  /** Reads a page once for all callers that wait for it. Undefined if the stream has another epoch. */
  private load(key: string, place: Place): Promise<EventPage | undefined> {
    const signal = AbortSignal.timeout(readLimitMs);
    const page = untilAborted(this.readPage(place, signal), signal).finally(() => this.loading.delete(key));
    this.loading.set(key, page);
    // Log here, once for all callers: they only retry, and by now there may be none left.
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
      const found = await reader.read(place.from + pageLength - 1);
      // Check after reading: if the stream was replaced in the meantime, these can be messages of the new one.
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

  /** Caches a page, and removes second copies of its events from the later pages that were read before it. */
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

  /** Returns the ids of the events right before a page, if those pages are cached. They are when a client reads page after page. */
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
  { epoch, from, until }: Place,
  {
    messages,
    isEnd,
    streamBegins,
    before: ids,
  }: FoundMessages & { streamBegins: number; before: Set<string> },
): EventPage {
  return {
    events: messages.flatMap((message) => toEvent(epoch, message)).filter(({ id }) => addNew(ids, id)),
    // A hole between the start of the page and its first message does not make the page incomplete.
    firstSequence: streamBegins <= from ? from : findBeginning(messages, streamBegins),
    lastSequence: isEnd ? Math.max(until, messages.at(-1)?.sequence ?? 0) : from + pageLength - 1,
  };
}

/**
 * Finds the sequence from which the page is complete. Messages that left the stream after they were read count if no hole
 * follows.
 */
function findBeginning(messages: readonly StreamMessage[], streamBegins: number): number {
  const sequences = new Set(messages.map(({ sequence }) => sequence));
  let first = streamBegins;
  while (sequences.has(first - 1)) first -= 1;
  return first;
}

/** Adds an id. Returns whether the id is new. */
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
