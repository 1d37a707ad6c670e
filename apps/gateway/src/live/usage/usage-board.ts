import { randomUUID } from 'node:crypto';
import { Injectable, Optional } from '@nestjs/common';
import type { LiveUsage, LiveUsageMessage } from '@stream-events/contracts';

type UserUsage = LiveUsage & { id: string };

interface Announced extends LiveUsage {
  at: number;
}

// A gateway that announces nothing for this long counts as gone. Gateways announce their usage once a second.
const expiryMs = 4_000;
// Maximum number of users per message: about 50 KiB, far below the 1 MiB that NATS accepts.
const maxUsersPerMessage = 1_000;
const nothing: LiveUsage = { connections: 0, catchUps: 0, waiting: 0 };

/**
 * Counts the live connections and catch-ups of each user and of each named token, by id: exactly at this gateway, and as last announced at
 * other gateways.
 */
@Injectable()
export class UsageBoard {
  /** Random id of this gateway process. */
  readonly gateway: string = randomUUID();
  private readonly own = new Map<string, LiveUsage>();
  private readonly others = new Map<string, Map<string, Announced>>();
  private readonly changed = new Set<string>();
  private readonly listeners: ((userId: string) => void)[] = [];
  private announce: () => void = () => undefined;

  constructor(@Optional() private readonly now: () => number = () => performance.now()) {}

  /** Returns the usage of a user at this gateway. */
  ownOf(userId: string): LiveUsage {
    return this.own.get(userId) ?? nothing;
  }

  /** Returns the total usage of a user at all other gateways. */
  othersOf(userId: string): LiveUsage {
    let sum = nothing;
    const oldest = this.now() - expiryMs;
    for (const users of this.others.values()) {
      const usage = users.get(userId);
      if (usage && usage.at >= oldest) sum = add(sum, usage);
    }
    return sum;
  }

  /** Returns the ids of the gateways at which a user has connections. */
  gatewaysOf(userId: string): string[] {
    const oldest = this.now() - expiryMs;
    const others = [...this.others].filter(([, users]) => {
      const usage = users.get(userId);
      return usage !== undefined && usage.at >= oldest && usage.connections > 0;
    });
    const own = this.ownOf(userId).connections > 0 ? [this.gateway] : [];
    return [...own, ...others.map(([gateway]) => gateway)];
  }

  /** Whether this gateway has the highest id among the gateways with connections of a user. */
  isLastOf(userId: string): boolean {
    const oldest = this.now() - expiryMs;
    return [...this.others].every(([gateway, users]) => {
      const usage = users.get(userId);
      return gateway < this.gateway || !usage || usage.at < oldest || usage.connections === 0;
    });
  }

  /** The ids of the users and named tokens with connections or catch-ups at this gateway. */
  get ownUsers(): string[] {
    return [...this.own.keys()];
  }

  /** Calls the listener with a user's id whenever the user's usage at another gateway may have changed. */
  listen(listener: (userId: string) => void): void {
    this.listeners.push(listener);
  }

  /** The board calls `announce` whenever there is a change to announce. */
  onAnnounce(announce: () => void): void {
    this.announce = announce;
  }

  /** Changes one count of a user's usage at this gateway, and announces the change. */
  change(userId: string, kind: keyof LiveUsage, difference: 1 | -1): void {
    const before = this.ownOf(userId);
    const after = { ...before, [kind]: before[kind] + difference };
    if (isNothing(after)) this.own.delete(userId);
    else this.own.set(userId, after);
    this.changed.add(userId);
    this.announce();
  }

  /** Returns messages that announce all changes since the last call. With `all`, they announce every user of this gateway. */
  takeMessages(all: boolean): LiveUsageMessage[] {
    const ids = all ? new Set([...this.own.keys(), ...this.changed]) : new Set(this.changed);
    this.changed.clear();
    const users = [...ids].map((id) => ({ id, ...this.ownOf(id) }));
    return this.toMessages(users);
  }

  /** Returns messages that announce zero usage for every user of this gateway. Sent when the gateway stops. */
  farewell(): LiveUsageMessage[] {
    return this.toMessages(this.ownUsers.map((id) => ({ id, ...nothing })));
  }

  /** Records the announcement of another gateway. */
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

  /** Drops usage that was last announced more than 4 s ago. */
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
