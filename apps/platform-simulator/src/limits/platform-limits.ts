import { Injectable } from '@nestjs/common';

/** What the platform allows an application, and how patient it is with callbacks. */
export interface Limits {
  /** Sum of the costs of an application's subscriptions (docs/platform-facts.md §4.6). */
  max_total_cost: number;
  /** Points a minute; every call takes one (docs/platform-facts.md §4.2). */
  rate_limit: number;
  /** Subscriptions on a page of the list. */
  page_size: number;
  /** How long an access token lives. */
  token_seconds: number;
  /** Notifications in a row that may fail, retries included, before the subscription is disabled. */
  max_failed_notifications: number;
  /** The pauses before a notification is sent again. */
  retry_delays_ms: number[];
}

/** The limits of this simulation, which tests change. */
@Injectable()
export class PlatformLimits {
  private limits: Limits = {
    max_total_cost: 10_000,
    rate_limit: 800,
    page_size: 100,
    token_seconds: 60 * 86_400,
    // The platform says neither when it gives up nor when it tries again. A callback that is down for a moment at a
    // high rate should survive; nobody wants to wait for minutes in a simulation.
    max_failed_notifications: 10,
    retry_delays_ms: [500, 2_000, 5_000],
  };

  get current(): Readonly<Limits> {
    return this.limits;
  }

  /** What is left out stays as it is. */
  change(changes: Partial<Limits>): void {
    const given = Object.entries<unknown>(changes).filter(([, value]) => value != null);
    this.limits = { ...this.limits, ...Object.fromEntries(given) };
  }
}
