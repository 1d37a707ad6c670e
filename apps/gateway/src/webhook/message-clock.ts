import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Alarms } from '@stream-events/service';

const windowMs = 60_000;
// Number of messages outside the permitted 10 minutes that raise the alarm. More than two, because after an outage the platform can
// redeliver one or two old messages.
const minStale = 3;

/**
 * Compares this machine's clock with the platform's, using the timestamps of signed messages. Raises an alarm if three messages within a
 * minute are more than 10 minutes off and no message of the last minute was on time.
 */
@Injectable()
export class MessageClock {
  // Includes the process id: several gateways on one host have separate alarms.
  private readonly key = `clock_off:gateway@${hostname()}:${process.pid}` as const;
  private staleAt: number[] = [];
  private freshAt = Number.NEGATIVE_INFINITY;
  private isRaised = false;

  constructor(private readonly alarms: Alarms) {}

  /** Records a message whose timestamp is within 10 minutes of now. Clears the alarm. */
  noteFresh(now: number): void {
    this.freshAt = now;
    if (!this.isRaised) return;
    this.isRaised = false;
    this.alarms.clear(this.key);
  }

  /** Records a message with a valid signature whose timestamp is more than 10 minutes off. */
  noteStale(timestamp: string, now: number): void {
    this.staleAt = [...this.staleAt.slice(1 - minStale), now];
    if (Number.isNaN(Date.parse(timestamp))) return;
    const isRepeated = this.staleAt.length === minStale && now - (this.staleAt[0] ?? 0) <= windowMs;
    if (!isRepeated || Math.abs(now - this.freshAt) <= windowMs) return;
    this.isRaised = true;
    const minutes = Math.round((now - Date.parse(timestamp)) / 60_000);
    const direction = minutes > 0 ? 'ahead of' : 'behind';
    this.alarms.raise(
      this.key,
      `The gateway rejects the platform’s messages: the clock of ${hostname()} is about ${Math.abs(minutes)} minutes ${direction} the platform’s. Synchronize it (NTP).`,
    );
  }
}
