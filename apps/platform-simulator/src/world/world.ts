import { simulatedEvents, type EventPayload, type Scene } from './event-payloads.js';
import { createChannel, createChannels, createViewers, type Channel, type Viewer } from './population.js';
import { Random } from './random.js';

/** Something that happened in the world. */
export interface WorldEvent {
  readonly type: string;
  readonly event: EventPayload;
}

/** The channels, by their broadcaster's id, that someone wants to hear about, for each type of event. */
export type Audience = ReadonlyMap<string, readonly string[]>;

/** A type of event that the world can make by itself. */
export interface SimulatedType {
  readonly type: string;
  readonly version: string;
}

/** The types of event that the simulator makes by itself. */
export const simulatedTypes: readonly SimulatedType[] = Object.entries(simulatedEvents).map(
  ([type, { version }]) => ({ type, version }),
);

// Tests may ask for any broadcaster: this many beyond the world's own are remembered before the oldest is forgotten.
const maxStrangers = 10_000;

/**
 * A small world of broadcasters and viewers in which things happen. The same seed and the same questions give the
 * same people and events. It keeps what has to fit together: a stream begins before it ends and under one id, and
 * what needs an audience happens while the stream is on.
 */
export class World {
  readonly channels: readonly Channel[];
  private readonly viewers: readonly Viewer[];
  private readonly channelsById: Map<string, Channel>;
  private readonly strangers = new Map<string, Channel>();
  private readonly random: Random;

  constructor(readonly seed: string) {
    this.random = new Random(seed);
    this.viewers = createViewers(this.random);
    this.channels = createChannels(this.random, this.viewers);
    this.channelsById = new Map(this.channels.map((channel) => [channel.broadcaster.id, channel]));
  }

  /** Lets the next thing happen that somebody wants to hear about; null when nobody wants to hear anything. */
  nextEvent(audience: Audience, now: Date): WorldEvent | null {
    const wanted = Object.entries(simulatedEvents).filter(([type]) => audience.get(type)?.length);
    if (wanted.length === 0) return null;
    const [type, { happensOffline }] = this.random.pickWeighted(wanted, ([, { weight }]) => weight);
    const channel = this.channel(this.random.pick(audience.get(type) ?? []));
    const isWanted = (other: string): boolean =>
      audience.get(other)?.includes(channel.broadcaster.id) ?? false;
    if (type === 'stream.online' || type === 'stream.offline') {
      const due = channel.stream === null ? 'stream.online' : 'stream.offline';
      return this.createEvent(isWanted(due) ? due : type, channel.broadcaster.id, now);
    }
    const mustBegin = channel.stream === null && !happensOffline && isWanted('stream.online');
    return this.createEvent(mustBegin ? 'stream.online' : type, channel.broadcaster.id, now);
  }

  /**
   * Makes an event of this type happen on a channel now. A stream that has to be on for it begins unheard, one that
   * has to be over ends unheard.
   *
   * @throws RangeError for a type that is not simulated
   */
  createEvent(type: string, broadcasterId: string, now: Date): WorldEvent {
    const simulated = simulatedEvents[type];
    if (simulated === undefined) throw new RangeError(`events of type ${type} are not simulated`);
    const channel = this.channel(broadcasterId);
    const needsStream = !simulated.happensOffline || type === 'stream.offline';
    if (needsStream && channel.stream === null) {
      channel.stream = { id: this.random.digits(11), startedAt: now.toISOString() };
    }
    return { type, event: simulated.build(this.createScene(channel, now)) };
  }

  /** The channel of a broadcaster; one that the world does not know yet comes into being, always the same. */
  channel(broadcasterId: string): Channel {
    const known = this.channelsById.get(broadcasterId) ?? this.strangers.get(broadcasterId);
    if (known) return known;
    const name = `Sim_Channel_${broadcasterId}`;
    const broadcaster = { id: broadcasterId, login: name.toLowerCase(), name };
    const stranger = createChannel(new Random(`${this.seed}/${broadcasterId}`), broadcaster, this.viewers);
    for (const oldest of this.strangers.keys()) {
      if (this.strangers.size < maxStrangers) break;
      this.strangers.delete(oldest);
    }
    this.strangers.set(broadcasterId, stranger);
    return stranger;
  }

  private createScene(channel: Channel, now: Date): Scene {
    const [viewer, otherViewer] = this.random.sample(this.viewers, 2);
    if (!viewer || !otherViewer) throw new RangeError('the world has too few viewers');
    const others = this.channels.filter((other) => other !== channel);
    return { random: this.random, channel, viewer, otherViewer, otherChannel: this.random.pick(others), now };
  }
}
