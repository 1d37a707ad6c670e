import { frameOf, type FrameFormat } from './frames.js';
import type { LiveEvent } from '../stream/live-event.js';
import { compileFilter, describeFilter, type LiveFilter } from './live-filter.js';

/** Who gets events as they come. */
export interface Member {
  readonly filter: LiveFilter;
  readonly format: FrameFormat;
  /** Gets the frames of some events at once, the first of which has this sequence. */
  deliver(frames: Buffer, firstSequence: number): void;
}

// What comes within one turn of the event loop goes out as one write; but not more than this.
const maxPendingBytes = 64 * 1024;

/** Members who want the same events. */
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

  get isFull(): boolean {
    return this.pendingBytes >= maxPendingBytes;
  }

  /** Whether the event waits for the next flush now. */
  take(event: LiveEvent): boolean {
    if (this.passes && !this.passes(event)) return false;
    this.pending.push(event);
    this.pendingBytes += event.record.length;
    return true;
  }

  /** @returns how many events went out, each counted for each member */
  flush(): number {
    const [events, first] = [this.pending, this.pending[0]];
    if (!first) return 0;
    this.pending = [];
    this.pendingBytes = 0;
    let delivered = 0;
    for (const [format, members] of this.members) {
      const frames = Buffer.concat(events.map((event) => frameOf(event, format)));
      // One that cannot take them leaves, which a set allows while it is walked.
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

/** Hands each event to those who want it: filters are asked once for all who have the same, frames are made once. */
export class FanOut {
  private readonly audiences = new Map<string, Audience>();
  /** The same audiences by the broadcaster that they filter by, so that an event need not ask all of them. */
  private readonly byBroadcaster = new Map<string | null, Set<Audience>>();
  private readonly dirty = new Set<Audience>();
  private flushing: NodeJS.Immediate | undefined;

  constructor(private readonly onDelivered: (count: number) => void) {}

  /** Takes an event, which goes out with all that come in the same turn of the event loop. */
  publish(event: LiveEvent): void {
    this.offer(event, this.byBroadcaster.get(null));
    const hasOthers = this.byBroadcaster.size > (this.byBroadcaster.has(null) ? 1 : 0);
    const broadcaster = hasOthers ? event.fields.broadcasterUserId : null;
    if (broadcaster !== null) this.offer(event, this.byBroadcaster.get(broadcaster));
    if (this.dirty.size > 0) this.flushing ??= setImmediate(() => this.flush());
  }

  /** Sends what waits. */
  flush(): void {
    clearImmediate(this.flushing);
    this.flushing = undefined;
    let delivered = 0;
    for (const audience of this.dirty) delivered += audience.flush();
    this.dirty.clear();
    this.onDelivered(delivered);
  }

  /** From now on the member gets every event that is published: nothing that waits from before. */
  join(member: Member): void {
    const key = describeFilter(member.filter);
    this.onDelivered(this.audiences.get(key)?.flush() ?? 0);
    // Only now: an audience whose last member has left, because it could not take that, is gone.
    const audience = this.audiences.get(key) ?? this.addAudience(key, member.filter);
    audience.add(member);
  }

  leave(member: Member): void {
    const audience = this.audiences.get(describeFilter(member.filter));
    if (!audience) return;
    audience.remove(member);
    if (audience.isEmpty) this.removeAudience(audience);
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
    const broadcaster = filter.broadcasterUserId || null;
    const neighbours = this.byBroadcaster.get(broadcaster) ?? new Set();
    this.byBroadcaster.set(broadcaster, neighbours.add(audience));
    this.audiences.set(key, audience);
    return audience;
  }

  private removeAudience(audience: Audience): void {
    const broadcaster = audience.filter.broadcasterUserId || null;
    const neighbours = this.byBroadcaster.get(broadcaster);
    neighbours?.delete(audience);
    if (neighbours?.size === 0) this.byBroadcaster.delete(broadcaster);
    this.audiences.delete(audience.key);
    this.dirty.delete(audience);
  }
}
