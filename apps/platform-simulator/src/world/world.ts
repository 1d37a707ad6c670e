import { Broadcasts } from './broadcasts.js';
import { UserDirectory } from './user-directory.js';
import type { User } from './user.js';
import { livelyEvents, needsStream } from './lively-events.js';
import { buildEvent } from './payloads/build-event.js';
import type { Condition, EventPayload, Scene } from './payloads/scene.js';
import {
  categories,
  createBroadcasters,
  createChannel,
  createViewers,
  streamTitles,
  type Channel,
  type Person,
  type Viewer,
} from './population.js';
import { Random } from './random.js';

/** Something that happened in the world. */
export interface WorldEvent {
  readonly type: string;
  readonly event: EventPayload;
}

/** The channels, by their broadcaster's id, that someone wants to hear about. */
export interface Audience {
  /** The types of event that somebody wants. */
  has(type: string): boolean;
  /** Ids of those channels, in an order that does not depend on who subscribed first. */
  channelsFor(type: string): readonly string[];
  wants(type: string, broadcasterId: string): boolean;
}

/** What an event is made for. */
export interface EventRequest {
  type: string;
  version?: string | undefined;
  broadcasterId: string;
  /** Of the subscription that gets it; for types that are not about a channel. */
  condition?: Condition | undefined;
  /** The other channel, for what takes two; any of the world's own unless given. */
  otherBroadcasterId?: string | undefined;
}

// Tests may ask for any broadcaster: this many beyond the users are remembered before the oldest is forgotten.
const maxStrangers = 10_000;

/**
 * A small world of broadcasters and viewers in which things happen. The same seed and the same questions give the
 * same people and events. It keeps what has to fit together: a stream begins before it ends and under one id, and
 * what needs an audience happens while the stream is on.
 */
export class World {
  readonly users: UserDirectory;
  readonly broadcasts: Broadcasts;
  /** The broadcasters that are there from the beginning. */
  readonly channels: readonly Channel[];
  private readonly viewers: readonly Viewer[];
  private readonly channelsById = new Map<string, Channel>();
  private readonly strangers = new Map<string, Channel>();
  private readonly random: Random;
  // Apart from what happens by itself, so that asking for an event does not change the story.
  private readonly randomOfRequests: Random;

  constructor(readonly seed: string) {
    this.random = new Random(seed);
    this.randomOfRequests = new Random(`${seed}/requests`);
    this.users = new UserDirectory(seed);
    this.broadcasts = new Broadcasts(seed);
    this.viewers = createViewers(this.random, this.users);
    this.channels = createBroadcasters(this.users).map(({ id }) => this.channel(id));
  }

  /** Lets the next thing happen that somebody wants to hear about; null when nobody wants to hear anything. */
  nextEvent(audience: Audience, now: Date): WorldEvent | null {
    const wanted = livelyEvents.filter(({ type }) => audience.has(type));
    if (wanted.length === 0) return null;
    const { type } = this.random.pickWeighted(wanted, ({ weight }) => weight);
    const channel = this.channel(this.random.pick(audience.channelsFor(type)));
    const { id } = channel.broadcaster;
    if (type === 'stream.online' || type === 'stream.offline') {
      const due = channel.stream === null ? 'stream.online' : 'stream.offline';
      return this.happen(audience.wants(due, id) ? due : type, channel, now);
    }
    const mustBegin = channel.stream === null && needsStream(type) && audience.wants('stream.online', id);
    return this.happen(mustBegin ? 'stream.online' : type, channel, now);
  }

  /** What an event of any type would be like now. Nothing happens: the world stays as it is. */
  describeEvent(request: EventRequest, now: Date): WorldEvent {
    return { type: request.type, event: this.build(this.randomOfRequests, request, now) };
  }

  /** The channel of a broadcaster; one that the world does not know yet comes into being, always the same. */
  channel(broadcasterId: string): Channel {
    return this.findChannel(broadcasterId) ?? this.createStranger(broadcasterId);
  }

  /** The channel of a user, or of somebody who was asked for before. */
  findChannel(broadcasterId: string): Channel | undefined {
    const known = this.channelsById.get(broadcasterId) ?? this.strangers.get(broadcasterId);
    if (known) return known;
    const user = this.users.find(broadcasterId);
    if (!user) return undefined;
    const channel = createChannel(this.randomOf(user.id), user, this.viewers);
    this.channelsById.set(user.id, channel);
    return channel;
  }

  isLive(userId: string): boolean {
    return this.channelsById.get(userId)?.stream != null;
  }

  /** Forgets what was made up about somebody who now has an account. */
  welcome(user: User): void {
    const stranger = this.strangers.get(user.id);
    if (stranger) this.broadcasts.forget(stranger);
    this.strangers.delete(user.id);
  }

  /** A user is gone; the streams that there were stay known. */
  dismiss(user: User, now: number): void {
    const channel = this.channel(user.id);
    this.broadcasts.end(channel, { now });
    this.users.remove(user);
    this.channelsById.delete(user.id);
    this.rememberStranger(user.id, channel);
  }

  /** Makes an event of this type happen on a channel: a stream that has to be on, or over, begins or ends for it. */
  private happen(type: string, channel: Channel, now: Date): WorldEvent {
    const turn = { now: now.getTime() };
    const isAboutStream = type === 'stream.online' || type === 'stream.offline';
    if (type === 'stream.online') this.broadcasts.end(channel, turn);
    if (channel.stream === null && (isAboutStream || needsStream(type))) this.broadcasts.start(channel, turn);
    if (type === 'stream.offline') this.broadcasts.end(channel, turn);
    if (type === 'channel.update') {
      channel.title = this.random.pick(streamTitles);
      channel.category = this.random.pick(categories);
    }
    const event = this.build(this.random, { type, broadcasterId: channel.broadcaster.id }, now);
    const viewer = this.viewers.find(({ id }) => id === event.user_id);
    if (viewer && type === 'channel.subscribe') viewer.subscribedMonths = 1;
    if (viewer && type === 'channel.subscription.message') viewer.subscribedMonths += 1;
    return { type, event };
  }

  private build(random: Random, request: EventRequest, now: Date): EventPayload {
    const { type, version, condition = {}, otherBroadcasterId } = request;
    const channel = this.channel(request.broadcasterId);
    const [viewer, otherViewer] = random.sample(this.viewers, 2);
    if (!viewer || !otherViewer) throw new RangeError('the world has too few viewers');
    const others =
      otherBroadcasterId === undefined
        ? this.channels.filter((other) => other !== channel)
        : [this.channel(otherBroadcasterId)];
    const listener = this.personOf(condition.user_id) ?? viewer;
    const scene: Scene = {
      ...{ random, channel, viewer, otherViewer, listener, condition, now },
      otherChannel: random.pick(others),
    };
    return buildEvent(type, version, scene);
  }

  private personOf(id: string | undefined): Person | undefined {
    return id === undefined ? undefined : this.channel(id).broadcaster;
  }

  private createStranger(id: string): Channel {
    const name = `Sim_Channel_${id}`;
    const channel = createChannel(this.randomOf(id), { id, login: name.toLowerCase(), name }, this.viewers);
    this.rememberStranger(id, channel);
    return channel;
  }

  private rememberStranger(id: string, channel: Channel): void {
    const [oldest] = this.strangers;
    if (this.strangers.size >= maxStrangers && oldest !== undefined) {
      this.broadcasts.forget(oldest[1]);
      this.strangers.delete(oldest[0]);
    }
    this.strangers.set(id, channel);
  }

  private randomOf(userId: string): Random {
    return new Random(`${this.seed}/${userId}`);
  }
}
