import { Injectable, Optional } from '@nestjs/common';
import { instanceReportMs, parseInstanceReport, type InstanceReport } from '@stream-events/contracts';

export interface HeardInstance {
  report: InstanceReport;
  /** Milliseconds since 1970. */
  heardAt: number;
  /** True if reports are overdue: the instance has died, hangs, or has lost NATS. */
  isSilent: boolean;
}

// An instance without a report for this long counts as silent. Three intervals, because reports can be a few seconds late on a busy
// machine.
const silentAfterMs = 3 * instanceReportMs;
// An instance without a report for this long disappears from the board.
const forgottenAfterMs = 60_000;
// Maximum number of instances, more than any installation has. Only a fault can exceed it, such as an instance that restarts in a loop.
const maxInstances = 1_000;

/** Tracks the instances of all services by their periodic reports. */
@Injectable()
export class InstanceBoard {
  private readonly instances = new Map<string, { report: InstanceReport; heardAt: number }>();

  constructor(@Optional() private readonly now: () => number = Date.now) {}

  /** Records a report. Removes an instance that reports its shutdown. Ignores invalid text. */
  learn(text: string): void {
    const report = parseInstanceReport(text);
    if (!report) return;
    this.instances.delete(report.id);
    if (report.isLeaving) return;
    this.instances.set(report.id, { report, heardAt: this.now() });
    this.forgetOldest();
  }

  /** Returns the last reports, sorted by service, then by start time. */
  read(): HeardInstance[] {
    this.forgetOldest();
    return [...this.instances.values()]
      .map(({ report, heardAt }) => ({ report, heardAt, isSilent: heardAt + silentAfterMs < this.now() }))
      .sort((one, other) => compare(one.report, other.report));
  }

  /** The ids of the gateways whose reports are not overdue. */
  get gatewayIds(): string[] {
    return this.read()
      .filter(({ report, isSilent }) => report.service === 'gateway' && !isSilent)
      .map(({ report }) => report.id);
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
