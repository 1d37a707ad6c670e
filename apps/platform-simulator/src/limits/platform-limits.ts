import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { GrantMode, SimulatorConfig } from '../platform-simulator.config.js';

/** Limits of applications and sockets, lifetimes of tokens and codes, and the treatment of failing callbacks. */
export interface Limits {
  /** Maximum total cost of the subscriptions of one application (docs/platform-facts.md §4.6). */
  max_total_cost: number;
  /** Points per minute. Each call costs one point (docs/platform-facts.md §4.2). */
  rate_limit: number;
  /** Subscriptions or conduit shards per page. */
  page_size: number;
  /** Lifetime of an app access token in seconds. */
  token_seconds: number;
  /** Lifetime of a user access token in seconds. */
  user_token_seconds: number;
  /** Lifetime of a public client's refresh token in seconds (docs/platform-facts.md §4.8). */
  refresh_token_seconds: number;
  /** Lifetime of a device code in seconds (docs/platform-facts.md §4.7). */
  device_code_seconds: number;
  /** Seconds between two polls of a device code. */
  device_interval_seconds: number;
  /** Length of one second on the socket server, in milliseconds, for new sockets. Tests shorten it (docs/platform-facts.md §2). */
  socket_second_ms: number;
  /** Seconds until a conduit that has lost its last enabled shard is deleted (docs/platform-facts.md §3). */
  dead_conduit_seconds: number;
  /** Who has granted scopes: every user, or only users who have consented. */
  grants: GrantMode;
  /** Failed notifications in a row that disable a subscription or webhook shard. A notification fails when its last retry fails. */
  max_failed_notifications: number;
  /** Delay before each retry of a notification, in milliseconds. */
  retry_delays_ms: number[];
}

/** The current limits. The control API can change them. */
@Injectable()
export class PlatformLimits {
  private limits: Limits = {
    max_total_cost: 10_000,
    rate_limit: 800,
    page_size: 100,
    token_seconds: 60 * 86_400,
    user_token_seconds: 4 * 3_600,
    refresh_token_seconds: 30 * 86_400,
    device_code_seconds: 1_800,
    device_interval_seconds: 5,
    socket_second_ms: 1_000,
    dead_conduit_seconds: 72 * 3_600,
    grants: 'everyone',
    // The platform publishes neither value. These values keep a subscription enabled through a short outage of its callback, and keep
    // simulations short.
    max_failed_notifications: 10,
    retry_delays_ms: [500, 2_000, 5_000],
  };

  constructor(@Inject(CONFIG) { SIMULATOR_GRANTS }: SimulatorConfig) {
    this.limits.grants = SIMULATOR_GRANTS;
  }

  get current(): Readonly<Limits> {
    return this.limits;
  }

  /** Changes only the given limits. */
  change(changes: Partial<Limits>): void {
    const given = Object.entries<unknown>(changes).filter(([, value]) => value != null);
    this.limits = { ...this.limits, ...Object.fromEntries(given) };
  }
}
