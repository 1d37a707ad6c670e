import { Broadcasts } from './broadcasts.js';
import { livelyEvents, needsStream } from './lively-events.js';
import { buildEvent } from './payloads/build-event.js';
import { createScene, type Condition, type EventPayload } from './payloads/scene.js';
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
import { UserDirectory, type User } from './user-directory.js';

export interface WorldEvent {
  readonly type: string;
  readonly event: EventPayload;
  /** The application that the event concerns. Only its subscriptions get the event. */
  readonly clientId?: string;
}

/** Which events the enabled subscriptions want, by type and broadcaster. */
export interface Audience {
  /** Whether any subscription wants this type. */
  has(type: string): boolean;
  /** Broadcasters with a subscription to this type. Sorted, so that the order of subscribing does not change the simulation. */
  channelsFor(type: string): readonly string[];
  wants(type: string, broadcasterId: string): boolean;
}

export interface EventRequest {
  type: string;
  version?: string | undefined;
  broadcasterId: string;
  /** The subscription's condition. It can set the user, the reward, or the direction of a raid. */
  condition?: Condition | undefined;
  /** The second channel, for events with two. Default: random. */
  otherBroadcasterId?: string | undefined;
}

// Maximum number of unknown broadcasters; the oldest is dropped first. Tests can use any broadcaster id.
const maxStrangers = 10_000;

/**
 * A world of broadcasters and viewers. The same seed and the same calls give the same people and events. The events of `nextEvent` are
 * consistent: a stream keeps its id from start to end, and events that need viewers happen only during a stream.
 */
export class World {
  readonly users: UserDirectory;
  readonly broadcasts: Broadcasts;
  /** Only the initial broadcasters. */
  readonly channels: readonly Channel[];
  private readonly viewers: readonly Viewer[];
  private readonly channelsById = new Map<string, Channel>();
  private readonly strangers = new Map<string, Channel>();
  private readonly random: Random;
  // A separate generator: describeEvent() must not change the generated events.
  private readonly randomOfRequests: Random;

  constructor(readonly seed: string) {
    this.random = new Random(seed);
    this.randomOfRequests = new Random(`${seed}/requests`);
    this.users = new UserDirectory(seed);
    this.broadcasts = new Broadcasts(seed);
    this.viewers = createViewers(this.random, this.users);
    this.channels = createBroadcasters(this.users).map(({ id }) => this.channel(id));
  }

  /** Generates the next event that the audience wants. Returns null if the audience wants none of the generated types. */
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

  /** Describes an event of any type as if it happened now, without changing the world. */
  describeEvent(request: EventRequest, now: Date): WorldEvent {
    return { type: request.type, event: this.build(this.randomOfRequests, request, now) };
  }

  /** For an unknown broadcaster, creates a channel that depends only on the seed and the id. */
  channel(broadcasterId: string): Channel {
    return this.findChannel(broadcasterId) ?? this.createStranger(broadcasterId);
  }

  /** Finds the channel of a user, or of an unknown broadcaster that was used before. */
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

  /** Drops the generated channel of a broadcaster who now has an account. */
  welcome(user: User): void {
    const stranger = this.strangers.get(user.id);
    if (stranger) this.broadcasts.forget(stranger);
    this.strangers.delete(user.id);
  }

  /** Removes a user. Keeps the user's past streams. */
  dismiss(user: User, now: number): void {
    const channel = this.channel(user.id);
    this.broadcasts.end(channel, { now });
    this.users.remove(user);
    this.channelsById.delete(user.id);
    this.rememberStranger(user.id, channel);
  }

  /** Generates an event on a channel. If the event requires it, first starts or ends a stream. */
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
    if (!viewer || !otherViewer) throw new RangeError('the world has fewer than two viewers');
    const others =
      otherBroadcasterId === undefined
        ? this.channels.filter((other) => other !== channel)
        : [this.channel(otherBroadcasterId)];
    const listener = this.personOf(condition.user_id) ?? viewer;
    const otherChannel = random.pick(others);
    const scene = { random, channel, otherChannel, viewer, otherViewer, listener, condition, now };
    return buildEvent(type, version, createScene(scene));
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
