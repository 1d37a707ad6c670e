import { Inject, Injectable } from '@nestjs/common';
import type { LookUpPriority, PlatformStatusReply } from '@stream-events/contracts';
import { PlatformUnavailableError, type PlatformEndpoint } from '@stream-events/platforms';
import {
  CircuitBreaker,
  FailureLog,
  LOGGER,
  Registry,
  type Counter,
  type Histogram,
  type Logger,
} from '@stream-events/service';
import { PlatformErrors } from './platform-errors.service.js';
import { circuitRestMs } from './retry-schedule.js';
import { connectorMetrics } from '../metrics.js';

// How many failures in a row open the circuit. A short network problem rarely causes five in a row, so five mean that the platform is down.
const failuresToOpen = 5;

/** Tracks the results of this process's calls. Opens and closes the circuit, counts calls, and logs failures. */
@Injectable()
export class PlatformHealth {
  private readonly circuit = new CircuitBreaker({
    failuresToOpen,
    restMs: circuitRestMs,
    now: () => performance.now(),
  });
  private readonly failures: FailureLog;
  private readonly callsTotal: Counter<'endpoint' | 'result'>;
  private readonly seconds: Histogram<'endpoint'>;

  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly errors: PlatformErrors,
    private readonly metrics: Registry,
  ) {
    this.failures = new FailureLog(logger);
    this.callsTotal = connectorMetrics.platform_connector_calls_total.create(metrics);
    this.seconds = connectorMetrics.platform_connector_call_seconds.create(metrics);
    connectorMetrics.platform_connector_circuit_open.create(metrics, (gauge) =>
      gauge.set(this.circuit.isClosed ? 0 : 1),
    );
  }

  /** Registers the metric for the number of calls that wait for a slot. */
  measureQueue(countWaiting: (priority: LookUpPriority) => number): void {
    connectorMetrics.platform_connector_calls_waiting.create(this.metrics, (gauge) => {
      for (const priority of ['interactive', 'background'] as const)
        gauge.set({ priority }, countWaiting(priority));
    });
  }

  get circuitState(): PlatformStatusReply['circuit'] {
    return this.circuit.isClosed ? 'closed' : 'open';
  }

  /** @throws PlatformUnavailableError while the circuit is open and no probe is due */
  checkCircuit(): void {
    if (this.circuit.permits) return;
    throw new PlatformUnavailableError(
      `The platform is unavailable: ${this.errors.own?.message ?? 'calls have failed'}`,
      Math.max(1, Math.ceil(this.circuit.restsForMs / 1_000)),
    );
  }

  /**
   * Marks the start of a call. Returns the start time; pass it to `answered` or `failed`.
   *
   * @throws PlatformUnavailableError like `checkCircuit`
   */
  begin(): number {
    this.checkCircuit();
    return this.circuit.begin();
  }

  /** Records a reply with a status below 500. Such a reply means that the platform works. */
  answered(begunAt: number, endpoint: PlatformEndpoint, status: number): void {
    this.count(begunAt, endpoint, resultOf(status));
    if (!this.circuit.isClosed) this.logger.info({ endpoint }, 'platform available again, circuit closed');
    this.circuit.succeed();
  }

  /** Records that the platform did not reply or sent an unusable reply. */
  failed(begunAt: number, endpoint: PlatformEndpoint, failure: { result: string; error: Error }): void {
    this.count(begunAt, endpoint, failure.result);
    this.noteError('call to the platform failed', failure.error, { endpoint });
    const before = this.circuitState;
    this.circuit.fail(begunAt);
    if (before === 'open' || this.circuitState === 'closed') return;
    this.logger.warn(
      { endpoint, err: failure.error, failuresInRow: failuresToOpen },
      'platform unavailable, circuit open, sending only probes',
    );
  }

  /** Runs `read`, and records the error when the reply is malformed. */
  noting<T>(endpoint: PlatformEndpoint, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof PlatformUnavailableError)
        this.noteError('cannot read the reply of the platform', error, { endpoint });
      throw error;
    }
  }

  /** Records an error. Logs it at most once per second for each `kind`. Pass a fixed text as `kind`. */
  noteError(kind: string, error: Error, details: Record<string, unknown> = {}): void {
    this.errors.note({ at: Date.now(), message: error.message });
    this.warn(kind, { err: error, ...details });
  }

  /** Logs an error of the service itself, at most once per second for each `kind`. */
  warn(kind: string, details: { err: unknown } & Record<string, unknown>): void {
    this.failures.warn(kind, details);
  }

  private count(begunAt: number, endpoint: PlatformEndpoint, result: string): void {
    this.callsTotal.inc({ endpoint, result });
    this.seconds.observe({ endpoint }, (performance.now() - begunAt) / 1_000);
  }
}

/** Maps a status to a metric label from a bounded set. */
function resultOf(status: number): string {
  if (status < 300) return 'ok';
  if (status === 401) return 'unauthorized';
  return status === 429 ? 'too_many' : 'refused';
}
