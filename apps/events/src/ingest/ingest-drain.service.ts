import { Inject, Injectable } from '@nestjs/common';
import { Counter, Gauge, LOGGER, Registry, type Logger } from '@stream-events/service';
import { EventWriter } from './event-writer.service.js';
import { IngestStream } from './ingest-stream.js';
import { IntakeStream } from './intake-stream.js';
import { QueueDrain } from './queue-drain.js';

/** Stores the messages of the INGEST stream, and those of the INTAKE stream that version 0.1.0 left. */
@Injectable()
export class IngestDrain {
  private readonly drains: readonly QueueDrain[];

  constructor(
    ingest: IngestStream,
    intake: IntakeStream,
    writer: EventWriter,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
  ) {
    const drainedTotal = new Counter({
      name: 'events_ingest_drained_total',
      help: 'Messages of the INGEST stream that were stored, recognized as already stored, or kept as dead letters',
      registers: [metrics],
    });
    new Gauge({
      name: 'events_ingest_stream_messages',
      help: 'Accepted messages on the INGEST stream that are not stored yet; the same number on every instance',
      registers: [metrics],
      async collect() {
        const counts = await Promise.all([ingest.count(), intake.count()]).catch(() => [Number.NaN]);
        this.set(counts.reduce((sum, count) => sum + count));
      },
    });
    const onDrained = (messages: number): void => drainedTotal.inc(messages);
    this.drains = [ingest, intake].map((queue) => new QueueDrain(queue, writer, logger, onDrained));
  }

  /** Starts draining. */
  start(): void {
    for (const drain of this.drains) drain.start();
  }

  /** Finishes the batches in hand (within 3 s) and stops. The broker redelivers unacknowledged messages to other instances. */
  async stop(): Promise<void> {
    await Promise.all(this.drains.map((drain) => drain.stop()));
  }
}
