import { Inject, Injectable, NotFoundException } from '@nestjs/common';
import { IsBoolean, IsOptional, IsString, MaxLength, ValidateIf } from 'class-validator';
import { IsOptionalInteger } from '../http/validation.js';
import { NotificationSender } from '../notifications/notification-sender.service.js';
import { countViewers, listStreams, type Stream } from '../world/broadcasts.js';
import { findCategory, type Channel } from '../world/population.js';
import { World } from '../world/world.js';

// Maximum lag of the streams API: one hour, longer than any test waits.
const maxLagMs = 3_600_000;
const maxViewers = 100_000_000;

export class ChangeStreamDto {
  @IsOptional()
  @IsString()
  @MaxLength(140) // the platform's limit
  title?: string;

  @IsOptional()
  @IsString()
  @MaxLength(255)
  game_name?: string;

  /** Fixed viewer count. Default: the count changes over time. */
  @IsOptionalInteger(0, maxViewers)
  viewer_count?: number;
}

/** Body of `POST /simulator/streams`. Requires the user's id or login. */
export class StartStreamDto extends ChangeStreamDto {
  @ValidateIf(({ login }: StartStreamDto) => login === undefined)
  @IsString()
  user_id?: string;

  @ValidateIf(({ user_id }: StartStreamDto) => user_id === undefined)
  @IsString()
  login?: string;

  /** Whether to send notifications. Default: true. */
  @IsOptional()
  @IsBoolean()
  notify?: boolean;

  /** Milliseconds until the streams API lists the stream. */
  @IsOptionalInteger(0, maxLagMs)
  listed_after_ms?: number;
}

/** Body of `DELETE /simulator/streams/<user id>`. */
export class EndStreamDto {
  /** Whether to send notifications. Default: true. */
  @IsOptional()
  @IsBoolean()
  notify?: boolean;

  /** Milliseconds for which the streams API keeps listing the stream. */
  @IsOptionalInteger(0, maxLagMs)
  listed_for_ms?: number;
}

export type StreamView = ReturnType<typeof viewStream>;
export type StreamTruth = ReturnType<typeof viewTruth>;

/** A stream as the streams API lists it, with its real start and end. */
export type SimulatedStream = StreamView & StreamTruth;

/** A stream as the platform's API returns it (FACTS.md §4.4). */
export function viewStream(channel: Channel, stream: Stream, now: number) {
  const { broadcaster, category, title, language } = channel;
  return {
    id: stream.id,
    user_id: broadcaster.id,
    user_login: broadcaster.login,
    user_name: broadcaster.name,
    game_id: category.id,
    game_name: category.name,
    type: 'live',
    title,
    tags: ['simulation'],
    viewer_count: countViewers(stream, now),
    started_at: new Date(stream.startedAt).toISOString(),
    language,
    thumbnail_url: `https://simulation.invalid/streams/${broadcaster.login}-{width}x{height}.jpg`,
    tag_ids: [], // deprecated; always empty on the platform
    is_mature: false,
  };
}

/** The real start and end of a stream, which the streams API can show late. `ended_at` is null while the stream is live. */
function viewTruth({ id, userId, startedAt, endedAt }: Stream) {
  return {
    id,
    user_id: userId,
    started_at: new Date(startedAt).toISOString(),
    ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
  };
}

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

  /** Starts a stream. If the user is already live, because streams also start at random, changes the running stream. */
  start({ user_id, login, notify = true, listed_after_ms, ...change }: StartStreamDto): SimulatedStream {
    const channel = this.findChannel(user_id ?? this.world.users.getByLogin(login ?? '').id);
    if (channel.stream) return this.change(channel.broadcaster.id, change);
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

  private findChannel(userId: string): Channel {
    return this.world.channel(this.world.users.get(userId).id);
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
