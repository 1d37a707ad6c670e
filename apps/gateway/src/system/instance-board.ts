import { Injectable, Optional } from '@nestjs/common';
import { instanceReportMs, parseInstanceReport, type InstanceReport } from '@stream-events/contracts';

/** The last report of an instance. */
export interface HeardInstance {
  report: InstanceReport;
  /** Milliseconds since 1970. */
  heardAt: number;
  /** Whether reports are missing: the instance has died, hangs, or is cut off from NATS. */
  isSilent: boolean;
}

// On a busy machine, a report may be a few seconds late.
const silentAfterMs = 3 * instanceReportMs;
// Shows for a minute that an instance is gone.
const forgottenAfterMs = 60_000;
// More than any installation has. Only a fault can reach it, such as an instance that restarts in a loop.
const maxInstances = 1_000;

/** The instances of all services, as they report themselves. */
@Injectable()
export class InstanceBoard {
  private readonly instances = new Map<string, { report: InstanceReport; heardAt: number }>();

  constructor(@Optional() private readonly now: () => number = Date.now) {}

  /** Takes a report. Ignores any other text. */
  learn(text: string): void {
    const report = parseInstanceReport(text);
    if (!report) return;
    this.instances.delete(report.id);
    if (report.isLeaving) return;
    this.instances.set(report.id, { report, heardAt: this.now() });
    this.forgetOldest();
  }

  /** Sorted by service, the oldest instance first. */
  read(): HeardInstance[] {
    this.forgetOldest();
    return [...this.instances.values()]
      .map(({ report, heardAt }) => ({ report, heardAt, isSilent: heardAt + silentAfterMs < this.now() }))
      .sort((one, other) => compare(one.report, other.report));
  }

  private forgetOldest(): void {
    for (const [id, { heardAt }] of this.instances) {
      if (heardAt + forgottenAfterMs >= this.now() && this.instances.size <= maxInstances) return;
      this.instances.delete(id);
    }
  }
}

function compare(one: InstanceReport, other: InstanceReport): number {
  return one.service.localeCompare(other.service) || one.startedAt - other.startedAt;
}
