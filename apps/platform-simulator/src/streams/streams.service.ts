import { ConflictException, Inject, Injectable, NotFoundException } from '@nestjs/common';
import { NotificationSender } from '../notifications/notification-sender.service.js';
import { findCategory, type Channel } from '../world/population.js';
import { World } from '../world/world.js';
import type { ChangeStreamDto, EndStreamDto, StartStreamDto } from './simulated-stream.dto.js';
import { listStreams } from '../world/broadcasts.js';
import { viewStream, viewTruth, type StreamTruth, type StreamView } from './stream-view.js';
import type { Stream } from '../world/stream.js';

/** A stream in all that there is to know. */
export type SimulatedStream = StreamView & StreamTruth;

/** Lets users go live and offline, and tells the subscribers. */
@Injectable()
export class StreamsService {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(NotificationSender) private readonly sender: NotificationSender,
  ) {}

  /** All streams of a user that are remembered, the oldest first. */
  list(userId: string): StreamTruth[] {
    const channel = this.world.findChannel(userId);
    return channel ? listStreams(channel).map(viewTruth) : [];
  }

  start({ user_id, login, notify = true, listed_after_ms, ...change }: StartStreamDto): SimulatedStream {
    const channel = this.findChannel(user_id ?? this.idOf(login ?? ''));
    const { broadcaster, stream: running } = channel;
    if (running) throw new ConflictException(`${broadcaster.login} is live already: stream ${running.id}`);
    const stream = this.world.broadcasts.start(channel, { now: Date.now(), lagMs: listed_after_ms ?? 0 });
    applyChange(channel, stream, change);
    if (notify) this.tell('stream.online', channel);
    return describe(channel, stream);
  }

  /** Changes what is on; subscribers hear of a new title or category, as on the platform. */
  change(userId: string, change: ChangeStreamDto): SimulatedStream {
    const channel = this.findChannel(userId);
    const stream = this.findRunning(channel);
    const before = `${channel.category.id} ${channel.title}`;
    applyChange(channel, stream, change);
    if (before !== `${channel.category.id} ${channel.title}`) this.tell('channel.update', channel);
    return describe(channel, stream);
  }

  end(userId: string, { notify = true, listed_for_ms }: EndStreamDto): SimulatedStream {
    const channel = this.findChannel(userId);
    const stream = this.findRunning(channel);
    this.world.broadcasts.end(channel, { now: Date.now(), lagMs: listed_for_ms ?? 0 });
    if (notify) this.tell('stream.offline', channel);
    return describe(channel, stream);
  }

  private tell(type: string, { broadcaster }: Channel): void {
    this.sender.tell(this.world.describeEvent({ type, broadcasterId: broadcaster.id }, new Date()));
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
