import { Injectable } from '@nestjs/common';

/** The limits of an application, and how the platform treats failing callbacks. */
export interface Limits {
  /** Maximum total cost of an application's subscriptions (docs/platform-facts.md §4.6). */
  max_total_cost: number;
  /** Points per minute; each call takes one (docs/platform-facts.md §4.2). */
  rate_limit: number;
  /** Subscriptions per page. */
  page_size: number;
  /** Lifetime of an access token in seconds. */
  token_seconds: number;
  /** Number of failed notifications in a row, retries included, that disables the subscription. */
  max_failed_notifications: number;
  /** Delays before the retries of a notification. */
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
    // The platform publishes neither value. A short outage of a callback must not disable its subscription, and a
    // simulation should not take minutes.
    max_failed_notifications: 10,
    retry_delays_ms: [500, 2_000, 5_000],
  };

  get current(): Readonly<Limits> {
    return this.limits;
  }

  /** Missing limits keep their values. */
  change(changes: Partial<Limits>): void {
    const given = Object.entries<unknown>(changes).filter(([, value]) => value != null);
    this.limits = { ...this.limits, ...Object.fromEntries(given) };
  }
}
