import type { Channel } from './population.js';
import { createStreamId, isListed, type Stream } from './stream.js';

/** How a stream begins or ends: when, and for how long the platform's list does not know yet. */
export interface StreamTurn {
  now: number;
  lagMs?: number | undefined;
}

// More than a test needs to look back; with it, memory does not grow for ever.
const maxPastStreams = 500;

/** The truth about who is live, and what the platform's list shows of it, which lags. */
export class Broadcasts {
  /** Channels that the list may show: those that are live, and those whose end it does not know yet. */
  private readonly shown = new Set<Channel>();
  private live = 0;

  constructor(private readonly seed: string) {}

  get liveCount(): number {
    return this.live;
  }

  /** A channel that is offline goes live. */
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

  /** The stream of a channel ends; null when none is on. */
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

  /** A channel that nobody will ask for again. */
  forget(channel: Channel): void {
    if (channel.stream !== null) this.live -= 1;
    this.shown.delete(channel);
  }

  /** Every channel that the list shows now. */
  listAll(now: number): Channel[] {
    const all: Channel[] = [];
    for (const channel of this.shown) {
      if (findListed(channel, now)) all.push(channel);
      else if (channel.stream === null) this.shown.delete(channel); // it is over, and the list has learnt it
    }
    return all;
  }
}

/** The stream of a channel that the list shows: the one that is on, else the last one while its end is not known. */
export function findListed({ stream, pastStreams }: Channel, now: number): Stream | undefined {
  return (
    [stream, pastStreams.at(-1)].find((candidate) => candidate != null && isListed(candidate, now)) ??
    undefined
  );
}

/** All streams of a channel that are remembered, the oldest first. */
export function listStreams({ stream, pastStreams }: Channel): Stream[] {
  return stream === null ? [...pastStreams] : [...pastStreams, stream];
}
