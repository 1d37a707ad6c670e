import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  instanceReportMs,
  instanceReportSubject,
  printInstanceReport,
  type InstanceReport,
  type LiveReport,
  type ReportingService,
  type SystemMeasure,
} from '@stream-events/contracts';
import { FailureLog, version, type Health, type Logger, type Registry } from '@stream-events/service';
import type { RequestClient } from './request-client.js';

/** The source of a measure: the sum of a metric's values with these labels, or the increase of that sum per second. */
export interface MeasureSource {
  metric: string;
  labels?: Readonly<Record<string, string>>;
  isRate?: true;
}

/** The sources of the measures that a service reports. */
export type MeasureSources = Readonly<Partial<Record<SystemMeasure, MeasureSource>>>;

/** The measures that an instance reports, and the time between two reports. */
export interface InstanceReporterOptions {
  service: ReportingService;
  measures: MeasureSources;
  /** Returns the live connections. Only for gateways. */
  readLive?: () => LiveReport;
  /** Default: 5 s. */
  intervalMs?: number;
}

type Measures = Partial<Record<SystemMeasure, number>>;

// Some metrics read the database. When the database does not respond within this time, the report omits the measures of these
// metrics.
const measureLimitMs = 2_000;

/**
 * Reports the version, the health, and the measures of this instance of a service to the gateways every 5 s. A report is lost when no
 * gateway listens or NATS is away. A lost report does no harm, because each report is complete.
 */
export class InstanceReporter {
  private readonly id = randomUUID();
  private readonly startedAt = Date.now();
  /** When the instance started, by a monotonic clock, in milliseconds. */
  private readonly startedAtMs = performance.now();
  private readonly failureLog: FailureLog;
  private readonly earlier = new Map<SystemMeasure, { sum: number; at: number }>();
  private timer: NodeJS.Timeout | undefined;
  private isReporting = false;

  constructor(
    private readonly client: Pick<RequestClient, 'announce'>,
    private readonly shell: { health: Health; metrics: Registry; logger: Logger },
    private readonly options: InstanceReporterOptions,
  ) {
    this.failureLog = new FailureLog(shell.logger);
  }

  start(): void {
    void this.report();
    this.timer = setInterval(() => void this.report(), this.options.intervalMs ?? instanceReportMs);
  }

  /** Tells the gateways that this instance is shutting down. */
  stop(): void {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.send({ ...this.describe(), problems: ['is shutting down'], measures: {}, isLeaving: true });
  }

  private async report(): Promise<void> {
    // Do not start a report while another is running, because a check or a metric can take longer than the interval.
    if (this.isReporting) return;
    this.isReporting = true;
    try {
      const [{ checks }, measures] = await Promise.all([this.shell.health.report(), this.measure()]);
      const problems = Object.entries(checks)
        .filter(([, { status }]) => status === 'error')
        .map(([name, { detail }]) => `${name}: ${detail ?? 'failed'}`);
      const live = this.options.readLive?.();
      if (this.timer) this.send({ ...this.describe(), problems, measures, ...(live && { live }) });
    } catch (err) {
      this.failureLog.warn('cannot report the state of this instance, retrying in 5 s', { err });
    } finally {
      this.isReporting = false;
    }
  }

  private describe(): Omit<InstanceReport, 'problems' | 'measures'> {
    const { id, startedAt } = this;
    const { service } = this.options;
    const uptimeSeconds = Math.round((performance.now() - this.startedAtMs) / 1_000);
    return { id, service, version, host: hostname(), processId: process.pid, startedAt, uptimeSeconds };
  }

  private send(report: InstanceReport): void {
    this.client.announce(instanceReportSubject, printInstanceReport(report));
  }

  private async measure(): Promise<Measures> {
    const measures: Measures = { memory_bytes: process.memoryUsage.rss() };
    const sources = Object.entries(this.options.measures) as [SystemMeasure, MeasureSource][]; // Safe cast: the keys are measures.
    await Promise.all(
      sources.map(async ([name, source]) => {
        const value = await this.read(name, source);
        if (Number.isFinite(value)) measures[name] = value;
      }),
    );
    return measures;
  }

  /** Returns NaN when the value is not known. */
  private async read(name: SystemMeasure, { metric, labels = {}, isRate }: MeasureSource): Promise<number> {
    const sum = await withinLimit(this.sum(metric, labels).catch(() => Number.NaN));
    if (!isRate) return sum;
    const [before, now] = [this.earlier.get(name), performance.now()];
    this.earlier.set(name, { sum, at: now });
    if (!before || now <= before.at) return Number.NaN;
    return round(((sum - before.sum) * 1_000) / (now - before.at));
  }

  private async sum(metric: string, labels: Readonly<Record<string, string>>): Promise<number> {
    const found = await this.shell.metrics.getSingleMetric(metric)?.get();
    if (!found) return Number.NaN;
    return found.values
      .filter((value) => Object.entries(labels).every(([name, label]) => value.labels[name] === label))
      .reduce((sum, { value }) => sum + value, 0);
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Returns the value, or NaN when the value is not available in time. */
async function withinLimit(value: Promise<number>): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<number>((resolve) => {
    timer = setTimeout(() => resolve(Number.NaN), measureLimitMs);
  });
  try {
    return await Promise.race([value, limit]);
  } finally {
    clearTimeout(timer);
  }
}
