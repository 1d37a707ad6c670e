import { hostname } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { Alarms } from '@stream-events/service';
import { ALARM_TIMES, type AlarmTimes } from '../alarms/alarm-times.js';
import { PlatformClock } from '../platform/platform-clock.js';
import { PlatformHealth } from '../platform/platform-health.service.js';

/** Raises the alarms that concern a single instance: the platform does not respond to it, or its clock is wrong. */
@Injectable()
export class InstanceAlarms {
  private timer: NodeJS.Timeout | undefined;
  private openSince: number | undefined;
  // Includes the process id, because one host can run several connectors, each with its own alarms.
  private readonly subject = `platform-connector@${hostname()}:${process.pid}`;

  constructor(
    private readonly health: PlatformHealth,
    private readonly clock: PlatformClock,
    private readonly alarms: Alarms,
    @Inject(ALARM_TIMES) private readonly times: AlarmTimes,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.check(), this.times.checkMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Public only for tests. */
  check(): void {
    this.checkPlatform();
    this.checkClock();
  }

  private checkPlatform(): void {
    const key = `platform_unavailable:${this.subject}` as const;
    if (this.health.circuitState === 'closed') {
      this.openSince = undefined;
      this.alarms.clear(key);
      return;
    }
    this.openSince ??= performance.now();
    if (performance.now() < this.openSince + this.times.holdMs) return;
    this.alarms.raise(
      key,
      'Calls to the platform fail. The service keeps retrying. `last_error` in GET /api/v1/platform/status shows the reason.',
    );
  }

  private checkClock(): void {
    const key = `clock_off:${this.subject}` as const;
    const { offsetMs, isOff } = this.clock;
    if (!isOff) return this.alarms.clear(key);
    const minutes = Math.round(Math.abs(offsetMs) / 60_000);
    const direction = offsetMs > 0 ? 'behind' : 'ahead of';
    this.alarms.raise(
      key,
      `The clock of ${hostname()} is ${minutes} minutes ${direction} the platform’s. Synchronize it with NTP: the service rejects platform messages whose timestamps differ from its clock by more than 10 minutes.`,
    );
  }
}
