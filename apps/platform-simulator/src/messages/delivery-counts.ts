import { Injectable } from '@nestjs/common';

/** Outcomes of all notifications so far. */
export interface DeliveryCountsView {
  /** Requests, retries included, and frames on sockets. */
  sent: number;
  /** Responses with a 2xx status, and frames on open sockets. */
  accepted: number;
  /** Failed requests by HTTP status, or `timeout` or `unreachable` without a response. */
  refused: Record<string, number>;
  /** Notifications that failed after the last retry. */
  given_up: number;
  /** Conduit notifications that were dropped because no suitable shard was enabled. */
  dropped: number;
}

/** Counts deliveries. The keys are a bounded set: HTTP statuses, `timeout`, and `unreachable`. */
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
