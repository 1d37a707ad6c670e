import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { GrantMode, SimulatorConfig } from '../platform-simulator.config.js';

/** The limits of an application, and how the platform treats failing callbacks. */
export interface Limits {
  /** Maximum total cost of an application's subscriptions (docs/platform-facts.md §4.6). */
  max_total_cost: number;
  /** Points per minute; each call costs one point (docs/platform-facts.md §4.2). */
  rate_limit: number;
  /** Subscriptions per page. */
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
  /** Length of one second on the socket server, in milliseconds. Tests shorten it (docs/platform-facts.md §2). */
  socket_second_ms: number;
  /** Time after which a conduit without an enabled shard is deleted, in seconds (docs/platform-facts.md §3). */
  dead_conduit_seconds: number;
  /** Who has granted scopes: every user, or only users who have consented. */
  grants: GrantMode;
  /** Number of consecutive notifications that must fail, each with all its retries, to disable the subscription. */
  max_failed_notifications: number;
  /** Delays before the retries of a notification, in milliseconds. */
  retry_delays_ms: number[];
}

/** The current limits, which tests can change. */
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
    // The platform publishes neither value. With these values, a short outage of a callback does not disable its subscription,
    // and a simulation does not take minutes.
    max_failed_notifications: 10,
    retry_delays_ms: [500, 2_000, 5_000],
  };

  constructor(@Inject(CONFIG) { SIMULATOR_GRANTS }: SimulatorConfig) {
    this.limits.grants = SIMULATOR_GRANTS;
  }

  get current(): Readonly<Limits> {
    return this.limits;
  }

  /** Changes the given limits. Missing limits keep their values. */
  change(changes: Partial<Limits>): void {
    const given = Object.entries<unknown>(changes).filter(([, value]) => value != null);
    this.limits = { ...this.limits, ...Object.fromEntries(given) };
  }
}
