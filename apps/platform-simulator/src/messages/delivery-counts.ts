import { Injectable } from '@nestjs/common';

/** Totals over all notifications since the start. */
export interface DeliveryCountsView {
  /** Requests that have ended, with or without a response (including retries), and socket frames. */
  sent: number;
  /** 2xx responses, and frames on open sockets. */
  accepted: number;
  /**
   * Failed requests by HTTP status. Without a response, the key is `timeout` or `unreachable`. Frames to ended sessions count as
   * `unreachable`.
   */
  refused: Record<string, number>;
  /** Notifications whose last attempt failed. */
  given_up: number;
  /** Conduit notifications lost because no suitable shard was enabled. */
  dropped: number;
}

/** The set of keys is bounded: HTTP statuses, `timeout`, and `unreachable`. */
@Injectable()
export class DeliveryCounts {
  private accepted = 0;
  private givenUp = 0;
  private dropped = 0;
  private readonly refused = new Map<string, number>();

  countAccepted(): void {
    this.accepted += 1;
  }

  countRefused(result: string): void {
    this.refused.set(result, (this.refused.get(result) ?? 0) + 1);
  }

  countGivenUp(): void {
    this.givenUp += 1;
  }

  countDropped(): void {
    this.dropped += 1;
  }

  view(): DeliveryCountsView {
    const refused = Object.fromEntries(this.refused);
    const sent = [...this.refused.values()].reduce((sum, count) => sum + count, this.accepted);
    return { sent, accepted: this.accepted, refused, given_up: this.givenUp, dropped: this.dropped };
  }
}
