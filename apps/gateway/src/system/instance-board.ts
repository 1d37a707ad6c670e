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

// An instance without a report for this time counts as silent. Three times the interval, because a report can be a few seconds late on a
// busy machine.
const silentAfterMs = 3 * instanceReportMs;
// The board forgets an instance that has sent no report for this time.
const forgottenAfterMs = 60_000;
// Maximum number of instances on the board, more than any installation has. Only a fault can reach it, for example an instance that
// restarts in a loop.
const maxInstances = 1_000;

/** Tracks the instances of all services by the reports that they send. */
@Injectable()
export class InstanceBoard {
  private readonly instances = new Map<string, { report: InstanceReport; heardAt: number }>();

  constructor(@Optional() private readonly now: () => number = Date.now) {}

  /** Records a report. Removes an instance that reports its shutdown. Ignores text that is not a report. */
  learn(text: string): void {
    const report = parseInstanceReport(text);
    if (!report) return;
    this.instances.delete(report.id);
    if (report.isLeaving) return;
    this.instances.set(report.id, { report, heardAt: this.now() });
    this.forgetOldest();
  }

  /** Returns the last reports, sorted by service and start time, oldest instance first. */
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
