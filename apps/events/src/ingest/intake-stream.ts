import type { StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { intakeStreamName, intakeSubject } from '@stream-events/contracts';
import { isStreamNotFound } from '@stream-events/messaging';
import type { Logger } from '@stream-events/service';
import { expectPlatform, manageStreams, type DrainedStream } from './ingest-stream.js';

export interface IntakeStreamOptions {
  platform: string;
  quietMs?: number;
}

// How long INTAKE must receive no messages before the service closes it: longer than a rolling upgrade of the gateways should take.
const defaultQuietMs = 10 * 60_000;
// A stream must have a subject. No service publishes to this one, so a stream with this subject is closed: it receives no messages.
const closedSubject = 'intake.closed';
// Room for old gateways to publish during the drain: over 50,000 messages of 1 KiB.
const spareBytes = 64 * 1024 ** 2;

/**
 * The INTAKE stream of version 0.1.0, which is now called INGEST. JetStream cannot rename a stream, so the events service drains INTAKE and
 * then deletes it. The events service never creates INTAKE itself.
 *
 * ```
 *            empty, and no new message for 10 minutes               still empty after the next fetch
 *   open ─────────────────────────────────────────────────▶ closed ───────────────────────────────▶ deleted
 *  intake.events                                         intake.closed
 * ```
 *
 * While INTAKE is open, gateways of version 0.1.0 can publish to it, and the drain stores their messages. The service closes the stream
 * first, because a message that arrives just before a deletion would be lost. Publishing to the closed stream fails: the old gateway
 * responds with 503, and the platform redelivers the message. A late instance of version 0.1.0 may create INTAKE again, so
 * `DurableConsumer` looks for the stream every minute.
 */
export class IntakeStream implements DrainedStream {
  readonly name = intakeStreamName;
  private isClosed = false;
  private lastSequence: number | undefined;
  /** When this instance last saw a new message, from a monotonic clock. */
  private quietSince = 0;

  constructor(
    readonly connection: NatsConnection,
    private readonly options: IntakeStreamOptions,
    private readonly logger: Logger,
  ) {}

  /**
   * Lowers the stream's size limit, so that the broker can reserve the disk space for INGEST. Returns false when the stream does not exist.
   *
   * @throws when the stream holds the messages of another platform
   */
  async prepare(): Promise<boolean> {
    // An instance of version 0.1.0 may have recreated the stream after this instance deleted it.
    this.isClosed = false;
    this.lastSequence = undefined;
    const found = await this.find();
    if (!found) return false;
    expectPlatform(found.config, `intake of platform ${this.options.platform}`, this.options.platform);
    await this.lowerLimit(found);
    return true;
  }

  /** If the stream is empty: lowers its size limit, closes it after the quiet period, and deletes it in a later call. */
  async onIdle(): Promise<void> {
    const found = await this.find();
    if (!found || found.state.messages > 0) return;
    await this.lowerLimit(found);
    if (!this.isQuiet(found)) return;
    const { streams } = await manageStreams(this.connection);
    if (found.config.subjects.includes(intakeSubject)) {
      await streams.update(this.name, { ...found.config, subjects: [closedSubject] });
    } else if (this.isClosed) {
      await streams.delete(this.name);
      this.logger.info('drained and deleted the INTAKE stream of version 0.1.0');
    }
    // Delete only in a later call, even if another instance closed the stream: the broker may still be storing a message that arrived
    // before.
    this.isClosed = true;
  }

  async count(): Promise<number> {
    return (await this.find())?.state.messages ?? 0;
  }

  /** Lowers the size limit to the current size plus room for old gateways. */
  private async lowerLimit({ config, state }: StreamInfo): Promise<void> {
    const max_bytes = state.bytes + spareBytes;
    if (max_bytes >= config.max_bytes) return;
    const { streams } = await manageStreams(this.connection);
    // `onIdle` later passes this configuration to `update`, which must not raise the limit again.
    config.max_bytes = max_bytes;
    await streams.update(this.name, config);
  }

  /** Whether this instance has seen no new message for the quiet period. */
  private isQuiet({ state }: StreamInfo): boolean {
    const now = performance.now();
    if (state.last_seq !== this.lastSequence) {
      this.lastSequence = state.last_seq;
      this.quietSince = now;
    }
    return now - this.quietSince >= (this.options.quietMs ?? defaultQuietMs);
  }

  private async find(): Promise<StreamInfo | undefined> {
    const { streams } = await manageStreams(this.connection);
    try {
      return await streams.info(this.name);
    } catch (error) {
      if (isStreamNotFound(error)) return undefined;
      throw error;
    }
  }
}
