import { eventFilters, filterColumns } from '@stream-events/contracts';
import { frameOf, type FrameFormat } from './frames.js';
import type { LiveEvent } from '../stream/live-event.js';
import type { TracedDelivery } from '../stream/traced-delivery.js';
import { compileFilter, describeFilter, type LiveFilter } from './live-filter.js';

/** A recipient of live events. */
export interface Member {
  readonly filter: LiveFilter;
  readonly format: FrameFormat;
  /** Takes the frames of one or more events. `firstSequence` is the sequence of the first event. */
  deliver(frames: Buffer, firstSequence: number): void;
}

// The events of an event-loop turn go into one write. When the pending events reach this size, they are written at once.
const maxPendingBytes = 64 * 1024;

/** The members that share a filter. */
class Audience {
  private readonly passes: ((event: LiveEvent) => boolean) | undefined;
  private readonly members = new Map<FrameFormat, Set<Member>>();
  private pending: LiveEvent[] = [];
  private pendingBytes = 0;

  constructor(
    readonly key: string,
    readonly filter: LiveFilter,
  ) {
    this.passes = compileFilter(filter);
  }

  get isEmpty(): boolean {
    return this.members.size === 0;
  }

  private get size(): number {
    return [...this.members.values()].reduce((sum, members) => sum + members.size, 0);
  }

  get isFull(): boolean {
    return this.pendingBytes >= maxPendingBytes;
  }

  /** Queues the event for the next flush if it passes the filter. Returns whether it passes. */
  take(event: LiveEvent): boolean {
    if (this.passes && !this.passes(event)) return false;
    this.pending.push(event);
    event.delivery?.noteClients(this.size);
    this.pendingBytes += event.record.length;
    return true;
  }

  /** Sends the pending events. Returns the number of deliveries: events times members. */
  flush(): number {
    const [events, first] = [this.pending, this.pending[0]];
    if (!first) return 0;
    this.pending = [];
    this.pendingBytes = 0;
    let delivered = 0;
    for (const [format, members] of this.members) {
      const frames = Buffer.concat(events.map((event) => frameOf(event, format)));
      // A member that cannot take the frames leaves during this loop. A Set allows removal while iterating.
      for (const member of members) member.deliver(frames, first.sequence);
      delivered += members.size * events.length;
    }
    return delivered;
  }

  add(member: Member): void {
    const members = this.members.get(member.format) ?? new Set();
    this.members.set(member.format, members.add(member));
  }

  remove(member: Member): void {
    const members = this.members.get(member.format);
    members?.delete(member);
    if (members?.size === 0) this.members.delete(member.format);
  }
}

/** Delivers each event to the members whose filters it passes. Evaluates each distinct filter once, and encodes one frame per format. */
export class FanOut {
  private readonly audiences = new Map<string, Audience>();
  /**
   * Audiences by the channel in their filters, so that an event is tested against only a few audiences. Null: filters without a channel.
   */
  private readonly byChannel = new Map<string | null, Set<Audience>>();
  private readonly dirty = new Set<Audience>();
  private readonly deliveries: TracedDelivery[] = [];
  private flushing: NodeJS.Immediate | undefined;
  /** When the oldest pending event was received. */
  private pendingSince: number | undefined;

  /** @param onFlushed called after a flush, with the time when the oldest event of the flush was received, in milliseconds since 1970 */
  constructor(
    private readonly onDelivered: (count: number) => void,
    private readonly onFlushed: (receivedAt: number) => void = () => undefined,
  ) {}

  /** Queues an event. The events of an event-loop turn are sent together, up to 64 KiB at a time. */
  publish(event: LiveEvent): void {
    this.offer(event, this.byChannel.get(null));
    const hasOthers = this.byChannel.size > (this.byChannel.has(null) ? 1 : 0);
    if (hasOthers) this.offer(event, this.audiencesOf(channelsOf(event)));
    if (event.delivery) this.deliveries.push(event.delivery);
    if (this.dirty.size > 0) this.pendingSince ??= event.receivedAt;
    if (this.dirty.size > 0 || event.delivery) this.flushing ??= setImmediate(() => this.flush());
  }

  /** Sends all pending events now. */
  flush(): void {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    let delivered = 0;
    for (const audience of this.dirty) delivered += audience.flush();
    this.dirty.clear();
    for (const delivery of this.deliveries.splice(0)) delivery.end();
    this.onDelivered(delivered);
    if (this.pendingSince !== undefined) this.onFlushed(this.pendingSince);
    this.pendingSince = undefined;
  }

  /** Adds a member, which receives events published from now on, but not those already pending. */
  join(member: Member): void {
    const key = describeFilter(member.filter);
    this.onDelivered(this.audiences.get(key)?.flush() ?? 0);
    // Look up the audience after the flush, which can remove it: a member that cannot take the frames leaves, and may be the last one.
    const audience = this.audiences.get(key) ?? this.addAudience(key, member.filter);
    audience.add(member);
  }

  leave(member: Member): void {
    const audience = this.audiences.get(describeFilter(member.filter));
    if (!audience) return;
    audience.remove(member);
    if (audience.isEmpty) this.removeAudience(audience);
  }

  /** Returns the audiences of these channels without duplicates, so that no audience gets an event twice. */
  private audiencesOf(channels: readonly string[]): Iterable<Audience> {
    const groups = channels.flatMap((channel) => this.byChannel.get(channel) ?? []);
    const [first = [], ...others] = groups;
    return others.length === 0 ? first : new Set(groups.flatMap((group) => [...group]));
  }

  private offer(event: LiveEvent, audiences: Iterable<Audience> = []): void {
    for (const audience of audiences) {
      if (!audience.take(event)) continue;
      this.dirty.add(audience);
      if (audience.isFull) this.onDelivered(audience.flush());
    }
  }

  private addAudience(key: string, filter: LiveFilter): Audience {
    const audience = new Audience(key, filter);
    for (const channel of channelsIn(filter)) {
      const group = this.byChannel.get(channel) ?? new Set();
      this.byChannel.set(channel, group.add(audience));
    }
    this.audiences.set(key, audience);
    return audience;
  }

  private removeAudience(audience: Audience): void {
    for (const channel of channelsIn(audience.filter)) {
      const group = this.byChannel.get(channel);
      group?.delete(audience);
      if (group?.size === 0) this.byChannel.delete(channel);
    }
    this.audiences.delete(audience.key);
    this.dirty.delete(audience);
  }
}

/** Returns the channels whose events can pass a filter; [null] for any channel. */
function channelsIn({ broadcasterUserId, channelId, limits }: LiveFilter): readonly (string | null)[] {
  const channel = broadcasterUserId || channelId;
  return channel ? [channel] : (limits?.channelIds ?? [null]);
}

const channelFields = eventFilters.channel_id.columns.map((name) => filterColumns[name].field);

/** Returns the channels that an event concerns. */
function channelsOf({ fields }: LiveEvent): string[] {
  return channelFields.flatMap((field) => fields[field] ?? []);
}
