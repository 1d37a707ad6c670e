import { createHash } from 'node:crypto';
import type { Channel } from './population.js';
import { Random } from './random.js';

/** A stream. Times are in milliseconds since 1970. */
export interface Stream {
  readonly id: string;
  readonly userId: string;
  readonly startedAt: number;
  endedAt: number | null;
  /** When the streams API starts to list the stream. The API lags, as on the platform. */
  readonly listedFrom: number;
  /** When the streams API stops listing the stream. Infinity while the stream is live. */
  listedUntil: number;
  /** Fixed viewer count. Null if the count changes over time. */
  viewers: number | null;
}

// Time between two changes of the viewer count. The platform does not update its counts continuously either.
const viewersChangeEveryMs = 30_000;

/**
 * Id of the user's stream number `count`, derived only from the arguments. With 15 digits, a million streams contain a duplicate id with a
 * probability of about 1 in 2,000.
 */
export function createStreamId(seed: string, userId: string, count: number): string {
  const hash = createHash('sha256').update(`${seed}/${userId}/${count}`).digest();
  return String(100_000_000_000_000n + (hash.readBigUInt64BE() % 900_000_000_000_000n));
}

/** The count varies around a number that is derived from the stream's id. */
export function countViewers(stream: Stream, now: number): number {
  if (stream.viewers !== null) return stream.viewers;
  const random = new Random(stream.id);
  const usual = random.integer(3, 60) ** 2;
  const phase = random.next() * 2 * Math.PI;
  const period = Math.floor(Math.max(0, now - stream.startedAt) / viewersChangeEveryMs);
  const noise = new Random(`${stream.id}/${period}`).next() / 10;
  return Math.round(usual * (1 + 0.3 * Math.sin(period / 20 + phase) + noise));
}

export function isListed({ listedFrom, listedUntil }: Stream, now: number): boolean {
  return listedFrom <= now && now < listedUntil;
}

/** Time of a stream's start or end, and the delay until the streams API shows the change. In milliseconds. */
export interface StreamTurn {
  now: number;
  lagMs?: number | undefined;
}

// Maximum stored streams per channel, to bound memory. No test reads more.
const maxPastStreams = 500;

/** Stores the real streams. Calculates which of them the lagging streams API lists. */
export class Broadcasts {
  /** Channels that the streams API can list: live ones, and those whose stream has just ended. */
  private readonly shown = new Set<Channel>();
  private live = 0;

  constructor(private readonly seed: string) {}

  get liveCount(): number {
    return this.live;
  }

  /** The channel must be offline. */
  start(channel: Channel, { now, lagMs = 0 }: StreamTurn): Stream {
    const userId = channel.broadcaster.id;
    channel.streamCount += 1;
    channel.stream = {
      id: createStreamId(this.seed, userId, channel.streamCount),
      userId,
      startedAt: now,
      endedAt: null,
      listedFrom: now + lagMs,
      listedUntil: Infinity,
      viewers: null,
    };
    this.live += 1;
    this.shown.add(channel);
    return channel.stream;
  }

  /** Returns the ended stream, or null if the channel is offline. */
  end(channel: Channel, { now, lagMs = 0 }: StreamTurn): Stream | null {
    const { stream } = channel;
    if (stream === null) return null;
    stream.endedAt = now;
    stream.listedUntil = now + lagMs;
    channel.stream = null;
    channel.pastStreams.push(stream);
    if (channel.pastStreams.length > maxPastStreams) channel.pastStreams.shift();
    this.live -= 1;
    return stream;
  }

  /** Removes a channel that nobody uses anymore. */
  forget(channel: Channel): void {
    if (channel.stream !== null) this.live -= 1;
    this.shown.delete(channel);
  }

  /** The channels that the streams API lists now. */
  listAll(now: number): Channel[] {
    const all: Channel[] = [];
    for (const channel of this.shown) {
      if (findListed(channel, now)) all.push(channel);
      else if (channel.stream === null) this.shown.delete(channel); // the stream has ended and the API no longer lists it
    }
    return all;
  }
}

/** The stream that the streams API lists: the running one, or an ended one during the lag. */
export function findListed({ stream, pastStreams }: Channel, now: number): Stream | undefined {
  return (
    [stream, pastStreams.at(-1)].find((candidate) => candidate != null && isListed(candidate, now)) ??
    undefined
  );
}

/** The channel's stored streams, oldest first. */
export function listStreams({ stream, pastStreams }: Channel): Stream[] {
  return stream === null ? [...pastStreams] : [...pastStreams, stream];
}
