import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Alarms } from '@stream-events/service';

const windowMs = 60_000;
// The number of messages outside the permitted 10 minutes that raises the alarm. Must be more than two, because the platform may redeliver
// one or two old messages after an outage.
const minStale = 3;

/**
 * Compares this machine's clock with the platform's clock, based on the timestamps of signed messages. Raises an alarm when, within a
 * minute, three messages have timestamps more than 10 minutes off and no message has a timestamp within the permitted 10 minutes.
 */
@Injectable()
export class MessageClock {
  // With the process id, because one host can run several gateways, each with its own alarm.
  private readonly key = `clock_off:gateway@${hostname()}:${process.pid}` as const;
  private staleAt: number[] = [];
  private freshAt = Number.NEGATIVE_INFINITY;
  private isRaised = false;

  constructor(private readonly alarms: Alarms) {}

  /** Records a message with a timestamp within the permitted 10 minutes, and clears the alarm. */
  noteFresh(now: number): void {
    this.freshAt = now;
    if (!this.isRaised) return;
    this.isRaised = false;
    this.alarms.clear(this.key);
  }

  /** Records a message with a valid signature but a timestamp outside the permitted 10 minutes. */
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
