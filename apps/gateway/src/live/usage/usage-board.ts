import { randomUUID } from 'node:crypto';
import { Injectable, Optional } from '@nestjs/common';
import type { LiveUsage, LiveUsageMessage } from '@stream-events/contracts';

/** What a user holds open, with the user's id. */
type UserUsage = LiveUsage & { id: string };

interface Announced extends LiveUsage {
  at: number;
}

// Gateways announce every second, so this is the time after which a gateway counts as gone.
const expiryMs = 4_000;
// About 60 KiB, far below the 1 MiB that NATS takes.
const maxUsersPerMessage = 1_000;
const nothing: LiveUsage = { connections: 0, catchUps: 0, waiting: 0 };

/** What users hold open, at this gateway and, as far as announced, at the others. */
@Injectable()
export class UsageBoard {
  /** The id of this gateway among all. */
  readonly gateway: string = randomUUID();
  private readonly own = new Map<string, LiveUsage>();
  private readonly others = new Map<string, Map<string, Announced>>();
  private readonly changed = new Set<string>();
  private readonly listeners: ((userId: string) => void)[] = [];
  private announce: () => void = () => undefined;

  constructor(@Optional() private readonly now: () => number = () => performance.now()) {}

  /** What a user holds at this gateway. */
  ownOf(userId: string): LiveUsage {
    return this.own.get(userId) ?? nothing;
  }

  /** What a user holds at all other gateways together. */
  othersOf(userId: string): LiveUsage {
    let sum = nothing;
    const oldest = this.now() - expiryMs;
    for (const users of this.others.values()) {
      const usage = users.get(userId);
      if (usage && usage.at >= oldest) sum = add(sum, usage);
    }
    return sum;
  }

  /** The gateways at which a user has connections. */
  gatewaysOf(userId: string): string[] {
    const oldest = this.now() - expiryMs;
    const others = [...this.others].filter(([, users]) => {
      const usage = users.get(userId);
      return usage !== undefined && usage.at >= oldest && usage.connections > 0;
    });
    const own = this.ownOf(userId).connections > 0 ? [this.gateway] : [];
    return [...own, ...others.map(([gateway]) => gateway)];
  }

  /** Whether this gateway is the last one, in the order of ids, that has connections of a user. */
  isLastOf(userId: string): boolean {
    const oldest = this.now() - expiryMs;
    return [...this.others].every(([gateway, users]) => {
      const usage = users.get(userId);
      return gateway < this.gateway || !usage || usage.at < oldest || usage.connections === 0;
    });
  }

  /** The users that hold something at this gateway. */
  get ownUsers(): string[] {
    return [...this.own.keys()];
  }

  /** Calls the listener with the id of a user when what the user holds at another gateway has changed, or may have. */
  listen(listener: (userId: string) => void): void {
    this.listeners.push(listener);
  }

  /** Calls a function when something is to be announced. */
  onAnnounce(announce: () => void): void {
    this.announce = announce;
  }

  /** Changes what a user holds at this gateway. */
  change(userId: string, kind: keyof LiveUsage, difference: 1 | -1): void {
    const before = this.ownOf(userId);
    const after = { ...before, [kind]: before[kind] + difference };
    if (isNothing(after)) this.own.delete(userId);
    else this.own.set(userId, after);
    this.changed.add(userId);
    this.announce();
  }

  /** Returns the announcements of what has changed since the last call, or of everything. */
  takeMessages(all: boolean): LiveUsageMessage[] {
    const ids = all ? new Set([...this.own.keys(), ...this.changed]) : new Set(this.changed);
    this.changed.clear();
    const users = [...ids].map((id) => ({ id, ...this.ownOf(id) }));
    return this.toMessages(users);
  }

  /** Returns the announcements that this gateway leaves. */
  farewell(): LiveUsageMessage[] {
    return this.toMessages(this.ownUsers.map((id) => ({ id, ...nothing })));
  }

  /** Takes the announcement of a gateway. */
  learn({ gateway, users }: LiveUsageMessage): void {
    if (gateway === this.gateway) return;
    const known = this.others.get(gateway) ?? new Map<string, Announced>();
    this.others.set(gateway, known);
    const at = this.now();
    for (const { id, connections, catchUps, waiting } of users) {
      if (isNothing({ connections, catchUps, waiting })) known.delete(id);
      else known.set(id, { connections, catchUps, waiting, at });
    }
    if (known.size === 0) this.others.delete(gateway);
    for (const { id } of users) this.tell(id);
  }

  /** Forgets what gateways have announced that are gone. */
  expire(): void {
    const oldest = this.now() - expiryMs;
    for (const [gateway, users] of this.others) {
      for (const [id, { at }] of users) {
        if (at >= oldest) continue;
        users.delete(id);
        this.tell(id);
      }
      if (users.size === 0) this.others.delete(gateway);
    }
  }

  private tell(userId: string): void {
    for (const listener of this.listeners) listener(userId);
  }

  private toMessages(users: readonly UserUsage[]): LiveUsageMessage[] {
    const { gateway } = this;
    const count = Math.ceil(users.length / maxUsersPerMessage);
    return Array.from({ length: count }, (_, index) => ({
      gateway,
      users: users.slice(index * maxUsersPerMessage, (index + 1) * maxUsersPerMessage),
    }));
  }
}

function add(one: LiveUsage, other: LiveUsage): LiveUsage {
  return {
    connections: one.connections + other.connections,
    catchUps: one.catchUps + other.catchUps,
    waiting: one.waiting + other.waiting,
  };
}

function isNothing({ connections, catchUps, waiting }: LiveUsage): boolean {
  return connections + catchUps + waiting === 0;
}
