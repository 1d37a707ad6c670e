import { Inject, Injectable } from '@nestjs/common';
import { socketTransports } from '@stream-events/contracts';
import {
  FailureLog,
  LOGGER,
  Registry,
  startAtZero,
  WorkerLoop,
  type Counter,
  type Logger,
} from '@stream-events/service';
import { v7 } from 'uuid';
import {
  DeliveryGapsRepository,
  type DeliveryGap,
  type DeliverySource,
  type GapEnd,
} from './delivery-gaps.repository.js';
import { connectorMetrics } from '../metrics.js';

const idleMs = 500;
const maxBackoffMs = 5_000;
// Messages that are lost within this time of each other belong to one gap.
const sameLossMs = 60_000;
// The maximum number of unsaved gaps while the database is unavailable. Beyond that, the oldest gap is only in the log.
const maxUnsaved = 1_000;

/**
 * Records when messages may be missing: a socket was lost, or messages arrived but could not be stored. A background task saves the
 * records. Callers therefore never wait for the database, whose failure may be the very cause of the gap.
 */
@Injectable()
export class DeliveryGaps {
  private readonly loop: WorkerLoop;
  private readonly gapsTotal: Counter<'transport'>;
  private readonly lostTotal: Counter<'transport'>;
  private readonly unsaved = new Map<string, DeliveryGap>();
  /** The unsaved ends of gaps: for each source, the latest. */
  private readonly ends = new Map<string, GapEnd>();
  /** For each source, the last gap with lost messages. */
  private readonly losses = new Map<string, DeliveryGap & { until: number; lost: number }>();

  constructor(
    private readonly repository: DeliveryGapsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    const failures = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: () => this.saveAll(),
      idleMs,
      maxBackoffMs,
      onFailure: (error) => failures.warn('cannot save gaps in delivery, retrying', { err: error }),
    });
    this.gapsTotal = connectorMetrics.platform_connector_delivery_gaps_total.create(metrics);
    this.lostTotal = connectorMetrics.platform_connector_messages_lost_total.create(metrics);
    const transports = socketTransports.map((transport) => ({ transport }));
    for (const counter of [this.gapsTotal, this.lostTotal]) startAtZero(counter, transports);
  }

  start(): void {
    this.loop.start();
  }

  /** Stops the background task, then tries once to save the remaining records. */
  async stop(): Promise<void> {
    await this.loop.stop();
    await this.saveAll();
  }

  /** Begins a gap at `from`. The source's messages may be missing until the time that is passed to `end`. */
  begin({ transport, source }: DeliverySource, from: number, reason: string): void {
    this.add({ id: v7(), transport, source, from, until: null, lost: null, reason });
  }

  /** Ends a source's open gaps, including those of instances that have stopped. */
  end({ transport, source }: DeliverySource, until: number): void {
    for (const gap of this.unsaved.values())
      if (isOf(gap, { transport, source })) gap.until ??= Math.max(until, gap.from);
    this.ends.set(keyOf({ transport, source }), { transport, source, until });
  }

  /** Returns when the source's earliest unsaved gap began, in milliseconds since 1970. Returns Infinity when all its gaps are saved. */
  unsavedFrom(source: DeliverySource): number {
    return Math.min(...[...this.unsaved.values()].filter((gap) => isOf(gap, source)).map(({ from }) => from));
  }

  /** Records the loss of a message that arrived at `at`. */
  addLost({ transport, source }: DeliverySource, at: number, reason: string): void {
    this.lostTotal.inc({ transport });
    const key = keyOf({ transport, source });
    const last = this.losses.get(key);
    if (last && Math.abs(at - last.until) <= sameLossMs) {
      last.lost += 1;
      last.from = Math.min(last.from, at);
      last.until = Math.max(last.until, at);
      this.unsaved.set(last.id, last);
      return;
    }
    const gap = { id: v7(), transport, source, from: at, until: at, lost: 1, reason };
    this.losses.set(key, gap);
    this.add(gap);
  }

  private add(gap: DeliveryGap): void {
    const { transport, source, from, until, reason } = gap;
    this.gapsTotal.inc({ transport });
    const level = gap.lost === null ? 'warn' : 'error';
    this.logger[level](
      { transport, source, from: new Date(from), ...(until !== null && { until: new Date(until) }), reason },
      gap.lost === null ? 'platform messages may be missing' : 'platform messages were lost',
    );
    this.unsaved.set(gap.id, gap);
    if (this.unsaved.size <= maxUnsaved) return;
    const [oldest] = this.unsaved.keys();
    if (oldest !== undefined) this.unsaved.delete(oldest);
  }

  /** Saves all unsaved gaps and ends. Returns false when there were none. */
  private async saveAll(): Promise<boolean> {
    const gaps = [...this.unsaved.values()].map((gap) => ({ ...gap }));
    const ends = [...this.ends];
    if (gaps.length > 0) await this.repository.save(gaps);
    for (const [, end] of ends) await this.repository.end(end);
    for (const { id, until, lost } of gaps) {
      const gap = this.unsaved.get(id);
      if (gap?.until === until && gap.lost === lost) this.unsaved.delete(id);
    }
    for (const [key, end] of ends) if (this.ends.get(key) === end) this.ends.delete(key);
    return gaps.length + ends.length > 0;
  }
}

function keyOf({ transport, source }: DeliverySource): string {
  return `${transport} ${source}`;
}

function isOf(gap: DeliveryGap, { transport, source }: DeliverySource): boolean {
  return gap.transport === transport && gap.source === source;
}
