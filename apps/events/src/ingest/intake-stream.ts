import type { JetStreamManager, JsMsg, StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { intakeStreamName, intakeSubject } from '@stream-events/contracts';
import { isStreamNotFound } from '@stream-events/messaging';
import type { Logger } from '@stream-events/service';
import { expectPlatform } from './ingest-stream.js';
import { WorkQueue } from './work-queue.js';

/** The platform whose messages the INTAKE stream must hold, and how long the stream must be quiet before it is deleted. */
export interface IntakeStreamOptions {
  platform: string;
  quietMs?: number;
}

// Longer than a rolling upgrade of the gateways should take.
const defaultQuietMs = 10 * 60_000;
// No one publishes on this subject. A stream must have one, and without a subject of ours it takes no more messages.
const closedSubject = 'intake.closed';
// Room for old gateways to publish while the stream is drained: over 50,000 messages.
const spareBytes = 64 * 1024 ** 2;

/**
 * The INTAKE stream of version 0.1.0, which became INGEST. JetStream cannot rename a stream, so the events service drains
 * INTAKE and then deletes it. It never creates INTAKE.
 *
 * ```
 *            no message on it and none arrived for 10 minutes        no message on it a fetch later
 *   open ─────────────────────────────────────────────────▶ closed ───────────────────────────────▶ deleted
 *  intake.events                                         intake.closed
 * ```
 *
 * Gateways of version 0.1.0 may still publish while INTAKE is open, and their messages are drained. Closing comes before
 * deleting so that no message can arrive in between and be deleted. After that, the publish of an old gateway fails: it
 * answers 503, and the platform delivers the message again later. An instance of the events service of version 0.1.0 that
 * starts late creates INTAKE again; therefore `WorkQueue.fetch` looks for a missing stream every minute.
 */
export class IntakeStream extends WorkQueue {
  private isClosed = false;
  private lastSequence: number | undefined;
  /** By a clock that never goes back. */
  private quietSince = 0;

  constructor(
    connection: NatsConnection,
    private readonly options: IntakeStreamOptions,
    private readonly logger: Logger,
  ) {
    super(connection, intakeStreamName);
  }

  override async fetch(interruption: AbortSignal): Promise<JsMsg[]> {
    try {
      return await super.fetch(interruption);
    } catch (error) {
      // Another instance has deleted the stream during the fetch.
      if (!(await this.find(await this.manage()))) return [];
      throw error;
    }
  }

  override async count(): Promise<number> {
    return (await this.find(await this.manage()))?.state.messages ?? 0;
  }

  protected override async prepareStream(manager: JetStreamManager): Promise<boolean> {
    const found = await this.find(manager);
    if (!found) return false;
    const { config, state } = found;
    expectPlatform(config, `intake of platform ${this.options.platform}`, this.options.platform);
    // The broker reserves max_bytes on its disk: leave the rest to INGEST.
    const max_bytes = Math.min(config.max_bytes, state.bytes + spareBytes);
    if (max_bytes < config.max_bytes) await manager.streams.update(this.name, { ...config, max_bytes });
    return true;
  }

  protected override async onEmptyFetch(manager: JetStreamManager): Promise<void> {
    const found = await this.find(manager);
    if (!found) {
      this.forgetConsumer();
      return;
    }
    if (found.state.messages > 0 || !this.isQuiet(found)) return;
    if (found.config.subjects.includes(intakeSubject)) {
      await manager.streams.update(this.name, { ...found.config, subjects: [closedSubject] });
    } else if (this.isClosed) {
      await manager.streams.delete(this.name);
      this.forgetConsumer();
      this.logger.info('INTAKE stream of version 0.1.0 is drained, deleted the stream');
    }
    // Also when another instance closed the stream: the broker may still be storing a message that arrived before.
    this.isClosed = true;
  }

  /** Whether no message has arrived for long enough, as far as this instance has observed. */
  private isQuiet({ state }: StreamInfo): boolean {
    const now = performance.now();
    if (state.last_seq !== this.lastSequence) {
      this.lastSequence = state.last_seq;
      this.quietSince = now;
    }
    return now - this.quietSince >= (this.options.quietMs ?? defaultQuietMs);
  }

  private async find({ streams }: JetStreamManager): Promise<StreamInfo | undefined> {
    try {
      return await streams.info(this.name);
    } catch (error) {
      if (isStreamNotFound(error)) return undefined;
      throw error;
    }
  }
}
