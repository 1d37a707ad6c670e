import type { Channel } from './population.js';
import { createStreamId, isListed, type Stream } from './stream.js';

/** The time at which a stream starts or ends, and the lag of the streams API. Both are in milliseconds. */
export interface StreamTurn {
  now: number;
  lagMs?: number | undefined;
}

// The number of streams to remember per channel: more than any test reads. Bounds memory.
const maxPastStreams = 500;

/** The actual streams, and the streams that the streams API lists with a lag. */
export class Broadcasts {
  /** Channels that the streams API may list: live channels, and channels whose stream has ended while the API lags. */
  private readonly shown = new Set<Channel>();
  private live = 0;

  constructor(private readonly seed: string) {}

  get liveCount(): number {
    return this.live;
  }

  /** Starts a stream on an offline channel. */
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

  /** Ends a channel's stream and returns the stream; null if the channel is offline. */
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

  /** Drops a channel that is no longer used. */
  forget(channel: Channel): void {
    if (channel.stream !== null) this.live -= 1;
    this.shown.delete(channel);
  }

  /** Returns the channels that the streams API lists now. */
  listAll(now: number): Channel[] {
    const all: Channel[] = [];
    for (const channel of this.shown) {
      if (findListed(channel, now)) all.push(channel);
      else if (channel.stream === null) this.shown.delete(channel); // ended, and no longer listed
    }
    return all;
  }
}

/** Returns the listed stream of a channel: the running stream, or the last stream while the streams API still lists it. */
export function findListed({ stream, pastStreams }: Channel, now: number): Stream | undefined {
  return (
    [stream, pastStreams.at(-1)].find((candidate) => candidate != null && isListed(candidate, now)) ??
    undefined
  );
}

/** Returns the remembered streams of a channel, oldest first. */
export function listStreams({ stream, pastStreams }: Channel): Stream[] {
  return stream === null ? [...pastStreams] : [...pastStreams, stream];
}
