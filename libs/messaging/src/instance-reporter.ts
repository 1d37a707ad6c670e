import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  instanceReportMs,
  instanceReportSubject,
  printInstanceReport,
  type InstanceReport,
  type LiveReport,
  type ReportedMeasure,
  type ReportingService,
} from '@stream-events/contracts';
import { FailureLog, version, type Health, type Logger, type Registry } from '@stream-events/service';
import type { RequestClient } from './request-client.js';

/** Where a measure comes from: the sum of a metric's values with these labels, or how fast that sum grows per second. */
export interface MeasureSource {
  metric: string;
  labels?: Readonly<Record<string, string>>;
  isRate?: true;
}

/** What an instance reports, and how often. */
export interface InstanceReporterOptions {
  service: ReportingService;
  /** The sources of the service's measures. The reporter adds the memory. */
  measures: Readonly<Partial<Record<ReportedMeasure, MeasureSource>>>;
  /** Only gateways have this: returns the live connections. */
  readLive?: () => LiveReport;
  /** 5 s by default. */
  intervalMs?: number;
}

type Measures = Partial<Record<ReportedMeasure, number>>;

// How long to wait for a metric, because some metrics read the database. A report leaves out measures that take longer.
const measureLimitMs = 2_000;

/**
 * Reports this instance's version, health, and measures to the gateways every 5 s. If no gateway listens or NATS is away, the report is
 * lost, which does no harm, because each report is complete.
 */
export class InstanceReporter {
  /** The id in the reports. */
  readonly id: string = randomUUID();
  private readonly startedAt = Date.now();
  /** When the instance started, in milliseconds by a monotonic clock. */
  private readonly startedAtMs = performance.now();
  private readonly failureLog: FailureLog;
  private readonly earlier = new Map<ReportedMeasure, { sum: number; at: number }>();
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
    // A check or metric can take longer than the interval, so never run two reports at a time.
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
    const sources = Object.entries(this.options.measures) as [ReportedMeasure, MeasureSource][]; // Safe cast: the keys are measures.
    await Promise.all(
      sources.map(async ([name, source]) => {
        const value = await this.read(name, source);
        if (Number.isFinite(value)) measures[name] = value;
      }),
    );
    return measures;
  }

  /** Returns NaN when the value is unknown. */
  private async read(name: ReportedMeasure, { metric, labels = {}, isRate }: MeasureSource): Promise<number> {
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

/** Returns NaN when the value does not arrive in time. */
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
