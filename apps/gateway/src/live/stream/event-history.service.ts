import { Inject, Injectable } from '@nestjs/common';
import { Counter, FailureLog, LOGGER, Registry, type Logger } from '@stream-events/service';
import { EventsStreamClient, type StreamMessage } from './events-stream-client.js';
import { LiveEvent } from './live-event.js';
import { PageCache, type EventPage } from './page-cache.js';
import { pageLength, type FoundMessages } from './page-reader.js';
import { PageReaders } from './page-readers.js';
import { untilAborted } from './until-aborted.js';
import { maxRingBufferBytes } from '../live-limits.js';

/** What comes next on the stream from a sequence on. */
export type HistoryPage =
  | {
      kind: 'events';
      /** In order; perhaps none. */
      events: readonly LiveEvent[];
      /** Where to read on. */
      next: number;
    }
  /** It has left the stream, which begins here now. */
  | { kind: 'expired'; firstSequence: number }
  /** The stream is of another epoch by now. */
  | { kind: 'other_epoch' };

/** Where to read. */
interface Place {
  epoch: string;
  from: number;
  /** The stream is known to have this sequence. */
  until: number;
}

// After a crash the relay publishes again what it cannot know to be on the stream: its last second or so. The second copy of
// an event, up to so many pages behind the first, is for nobody: whoever comes by it has come by the first one.
const pagesOfRepetitions = 8;
// A page takes milliseconds, and waits for those before it.
const readLimitMs = 5_000;

/**
 * Reads what is older than the ring, with few consumers for any number of clients: in pages that begin at fixed sequences
 * (1, 129, 257, …), so that those who read the same part of the stream read the same pages, once.
 */
@Injectable()
export class EventHistory {
  private readonly cache = new PageCache(maxRingBufferBytes);
  private readonly loading = new Map<string, Promise<EventPage | undefined>>();
  private readonly readers: PageReaders;
  private readonly pagesTotal: Counter<'source'>;
  private readonly failures: FailureLog;

  constructor(
    private readonly stream: EventsStreamClient,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
  ) {
    this.failures = new FailureLog(logger);
    this.readers = new PageReaders(stream);
    this.pagesTotal = new Counter({
      name: 'live_history_pages_total',
      help: 'Pages of older events that live clients were sent: read from the stream, or from memory (shared)',
      labelNames: ['source'],
      registers: [metrics],
    });
  }

  /**
   * Events from `from` on, a page of a hundred or so; never beyond `until`, which the stream is known to have.
   *
   * @throws when the broker does not answer, or the signal's reason
   */
  async read(place: Place, signal: AbortSignal): Promise<HistoryPage> {
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
      // Who began to read it may have known less of the stream: then it is read again.
      if (page.lastSequence >= last) return cut(page, from, last);
    }
  }

  /** Reads a page, once for all who ask for it meanwhile; undefined when the stream is of another epoch. */
  private load(key: string, place: Place): Promise<EventPage | undefined> {
    const signal = AbortSignal.timeout(readLimitMs);
    const page = untilAborted(this.readPage(place, signal), signal).finally(() => this.loading.delete(key));
    this.loading.set(key, page);
    // Here, once for all who wait for it: they only try again, and perhaps nobody waits any more.
    page.catch((err: unknown) =>
      this.failures.warn('a page of older events cannot be read for live clients', { err, from: place.from }),
    );
    return page;
  }

  private async readPage(place: Place, signal: AbortSignal): Promise<EventPage | undefined> {
    if (!this.stream.isConnected) throw new Error('NATS is away');
    return this.readers.use(place.from, signal, async (reader) => {
      const found = await reader.read(place.from + pageLength - 1);
      // Only now: had the stream been replaced before, these might be messages of the other one.
      const state = await this.stream.find();
      if (!state) throw new Error('there is no EVENTS stream');
      this.pagesTotal.inc({ source: 'stream' });
      if (state.epoch !== place.epoch) return undefined;
      const page = toPage(place, {
        ...found,
        streamBegins: state.firstSequence,
        before: this.idsBefore(place),
      });
      this.keep(place, page);
      return page;
    });
  }

  /** Keeps a page in memory, and takes second copies of its events from those behind it that were read before it. */
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

  /** Ids of the events right before a page, as far as they are in memory: for those who read on, they are. */
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
    // Between the page's beginning and its first message there may be a hole, which is complete, too.
    firstSequence: streamBegins <= from ? from : findBeginning(messages, streamBegins),
    lastSequence: isEnd ? Math.max(until, messages.at(-1)?.sequence ?? 0) : from + pageLength - 1,
  };
}

/** What was read before it left the stream counts as far as nothing is missing between it and the rest. */
function findBeginning(messages: readonly StreamMessage[], streamBegins: number): number {
  const sequences = new Set(messages.map(({ sequence }) => sequence));
  let first = streamBegins;
  while (sequences.has(first - 1)) first -= 1;
  return first;
}

/** Whether it was not there yet. */
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
