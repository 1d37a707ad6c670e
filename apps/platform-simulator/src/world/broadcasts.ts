import type { Channel } from './population.js';
import { createStreamId, isListed, type Stream } from './stream.js';

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
