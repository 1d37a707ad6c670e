import { Inject, Injectable } from '@nestjs/common';
import { PlatformUnavailableError, type PlatformEndpoint } from '@stream-events/platforms';
import {
  CircuitBreaker,
  Counter,
  FailureLog,
  Gauge,
  Histogram,
  LOGGER,
  Registry,
  type Logger,
} from '@stream-events/service';
import { PlatformErrors } from './platform-errors.service.js';
import { circuitRestMs } from './retry-schedule.js';

// One lost answer, or three, is the network; five in a row without a good one between is an outage.
const failuresToOpen = 5;

/** What this process's calls of the platform have come to: it decides whether the next one makes sense, counts and logs. */
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
    metrics: Registry,
  ) {
    this.failures = new FailureLog(logger);
    this.callsTotal = new Counter({
      name: 'platform_connector_calls_total',
      help: 'Calls of the platform by endpoint and what came of them',
      labelNames: ['endpoint', 'result'],
      registers: [metrics],
    });
    this.seconds = new Histogram({
      name: 'platform_connector_call_seconds',
      help: 'How long calls of the platform took, whatever came of them',
      labelNames: ['endpoint'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [metrics],
    });
    const { circuit } = this;
    new Gauge({
      name: 'platform_connector_circuit_open',
      help: '1 while the platform has failed so often that this process asks it only now and then, else 0',
      registers: [metrics],
      collect() {
        this.set(circuit.isClosed ? 0 : 1);
      },
    });
  }

  get circuitState(): 'closed' | 'open' {
    return this.circuit.isClosed ? 'closed' : 'open';
  }

  /** @throws PlatformUnavailableError while the circuit is open and not due to be probed */
  checkCircuit(): void {
    if (this.circuit.permits) return;
    throw new PlatformUnavailableError(
      `The platform does not work at the moment: ${this.errors.own?.message ?? 'calls have failed'}`,
      Math.max(1, Math.ceil(this.circuit.restsForMs / 1_000)),
    );
  }

  /**
   * A call goes out, which must end in `answered` or `failed`; says when that was.
   *
   * @throws PlatformUnavailableError as `checkCircuit`
   */
  begin(): number {
    this.checkCircuit();
    return this.circuit.begin();
  }

  /** The platform has answered with a status below 500: it works, whatever it says. */
  answered(begunAt: number, endpoint: PlatformEndpoint, status: number): void {
    this.count(begunAt, endpoint, resultOf(status));
    if (!this.circuit.isClosed) this.logger.info({ endpoint }, 'the platform works again: circuit closed');
    this.circuit.succeed();
  }

  /** The platform has not answered, or not to any purpose. */
  failed(begunAt: number, endpoint: PlatformEndpoint, failure: { result: string; error: Error }): void {
    this.count(begunAt, endpoint, failure.result);
    this.noteError('call of the platform failed', failure.error, { endpoint });
    const before = this.circuitState;
    this.circuit.fail(begunAt);
    if (before === 'open' || this.circuitState === 'closed') return;
    this.logger.warn(
      { endpoint, err: failure.error, failuresInRow: failuresToOpen },
      'the platform does not work: circuit opened, it is asked only now and then',
    );
  }

  /** Reads an answer, and notes when it cannot be read: it is not what the platform promises. */
  noting<T>(endpoint: PlatformEndpoint, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof PlatformUnavailableError)
        this.noteError('answer of the platform not used', error, { endpoint });
      throw error;
    }
  }

  /** Remembers and logs what went wrong; of a kind (a fixed text), one line a second. */
  noteError(kind: string, error: Error, details: Record<string, unknown> = {}): void {
    this.errors.note({ at: Date.now(), message: error.message });
    this.warn(kind, { err: error, ...details });
  }

  /** Logs what went wrong on our side. */
  warn(kind: string, details: { err: unknown } & Record<string, unknown>): void {
    this.failures.warn(kind, details);
  }

  private count(begunAt: number, endpoint: PlatformEndpoint, result: string): void {
    this.callsTotal.inc({ endpoint, result });
    this.seconds.observe({ endpoint }, (performance.now() - begunAt) / 1_000);
  }
}

/** A few words, not every status there is. */
function resultOf(status: number): string {
  if (status < 300) return 'ok';
  if (status === 401) return 'unauthorized';
  return status === 429 ? 'too_many' : 'refused';
}
