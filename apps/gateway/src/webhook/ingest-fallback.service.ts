import { Inject, Injectable } from '@nestjs/common';
import type { NewEvent } from '@stream-events/contracts';
import { CONFIG, Gauge, LOGGER, Registry, type Logger } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import { IngestPublisher } from './ingest-publisher.js';

/** A time in which events cannot be stored, and what became of the platform's messages. */
interface Outage {
  deferred: number;
  refused: number;
}

/**
 * Takes the platform's messages in while they cannot be stored: onto the INGEST stream, from which the events service
 * stores them when it can. That copy survives dead processes, not a power cut: hence the warnings.
 *
 * ```
 *          defer()                        onStored()
 *  normal ─────────▶ outage, one warning ───────────▶ normal, one warning with the counts
 *                     │         │
 *            stream has it    full, none, NATS away: refused, one warning
 * ```
 */
@Injectable()
export class IngestFallback {
  private outage: Outage | undefined;

  constructor(
    private readonly publisher: IngestPublisher,
    @Inject(CONFIG) private readonly config: GatewayConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    const isInUse = (): boolean => this.outage !== undefined;
    new Gauge({
      name: 'gateway_ingest_fallback_in_use',
      help: '1 while messages of the platform go to the INGEST stream, since they cannot be stored, else 0',
      registers: [metrics],
      collect() {
        this.set(isInUse() ? 1 : 0);
      },
    });
  }

  /**
   * Puts an event that could not be stored on the INGEST stream and says whether it is there. When it was in doubt
   * whether it was stored, it may be both: it has the same id and key there, so it is stored once.
   */
  async defer(event: NewEvent): Promise<boolean> {
    if (this.config.INGEST_FALLBACK === 'off') return false;
    const outage = (this.outage ??= this.begin());
    try {
      await this.publisher.publish(event);
      outage.deferred += 1;
      return true;
    } catch (error) {
      outage.refused += 1;
      if (outage.refused === 1)
        this.logger.warn(
          { err: error },
          'messages of the platform are refused: the INGEST stream is no help',
        );
      return false;
    }
  }

  /** An event was stored: if there was an outage, it is over. */
  onStored(): void {
    if (!this.outage) return;
    this.logger.warn({ ...this.outage }, 'messages of the platform are stored again');
    this.outage = undefined;
  }

  private begin(): Outage {
    this.logger.warn('messages of the platform cannot be stored: they go to the INGEST stream');
    return { deferred: 0, refused: 0 };
  }
}
