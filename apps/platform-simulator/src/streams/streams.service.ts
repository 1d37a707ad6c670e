import { ConflictException, Inject, Injectable, NotFoundException } from '@nestjs/common';
import { NotificationSender } from '../notifications/notification-sender.service.js';
import { findCategory, type Channel } from '../world/population.js';
import { World } from '../world/world.js';
import type { ChangeStreamDto, EndStreamDto, StartStreamDto } from './simulated-stream.dto.js';
import { listStreams } from '../world/broadcasts.js';
import { viewStream, viewTruth, type StreamTruth, type StreamView } from './stream-view.js';
import type { Stream } from '../world/stream.js';

/** A stream as the streams API lists it, with its real start and end. */
export type SimulatedStream = StreamView & StreamTruth;

/** Starts, changes, and ends streams, and notifies the subscriptions. */
@Injectable()
export class StreamsService {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(NotificationSender) private readonly sender: NotificationSender,
  ) {}

  /** The user's stored streams, oldest first. */
  list(userId: string): StreamTruth[] {
    const channel = this.world.findChannel(userId);
    return channel ? listStreams(channel).map(viewTruth) : [];
  }

  start({ user_id, login, notify = true, listed_after_ms, ...change }: StartStreamDto): SimulatedStream {
    const channel = this.findChannel(user_id ?? this.idOf(login ?? ''));
    const { broadcaster, stream: running } = channel;
    if (running)
      throw new ConflictException(`${broadcaster.login} is already live with stream ${running.id}`);
    const stream = this.world.broadcasts.start(channel, { now: Date.now(), lagMs: listed_after_ms ?? 0 });
    applyChange(channel, stream, change);
    if (notify) this.notify('stream.online', channel);
    return describe(channel, stream);
  }

  /** Sends channel.update if the title or category changes, as on the platform. */
  change(userId: string, change: ChangeStreamDto): SimulatedStream {
    const channel = this.findChannel(userId);
    const stream = this.findRunning(channel);
    const before = `${channel.category.id} ${channel.title}`;
    applyChange(channel, stream, change);
    if (before !== `${channel.category.id} ${channel.title}`) this.notify('channel.update', channel);
    return describe(channel, stream);
  }

  end(userId: string, { notify = true, listed_for_ms }: EndStreamDto): SimulatedStream {
    const channel = this.findChannel(userId);
    const stream = this.findRunning(channel);
    this.world.broadcasts.end(channel, { now: Date.now(), lagMs: listed_for_ms ?? 0 });
    if (notify) this.notify('stream.offline', channel);
    return describe(channel, stream);
  }

  private notify(type: string, { broadcaster }: Channel): void {
    this.sender.notifyAll(this.world.describeEvent({ type, broadcasterId: broadcaster.id }, new Date()));
  }

  private idOf(login: string): string {
    const user = this.world.users.findByLogin(login);
    if (!user) throw new NotFoundException(`there is no user ${login}`);
    return user.id;
  }

  private findChannel(userId: string): Channel {
    if (!this.world.users.find(userId)) throw new NotFoundException(`there is no user ${userId}`);
    return this.world.channel(userId);
  }

  private findRunning({ stream, broadcaster }: Channel): Stream {
    if (!stream) throw new NotFoundException(`${broadcaster.login} is not live`);
    return stream;
  }
}

function applyChange(
  channel: Channel,
  stream: Stream,
  { title, game_name, viewer_count }: ChangeStreamDto,
): void {
  channel.title = title ?? channel.title;
  channel.category = game_name == null ? channel.category : findCategory(game_name);
  stream.viewers = viewer_count ?? stream.viewers;
}

function describe(channel: Channel, stream: Stream): SimulatedStream {
  return { ...viewStream(channel, stream, Date.now()), ...viewTruth(stream) };
}
