import { setTimeout as wait } from 'node:timers/promises';
import { DeliverPolicy, jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, parseStreamDescription } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import type { PublishedMessage } from '../chaos/checker.js';
import type { Servers } from '../system/servers.js';
import type { StreamEvent, StreamHistory } from '../fleet/fleet-messages.js';
import { readRecord } from '../fleet/test-events.js';

interface StreamState {
  epoch: string;
  firstSequence: number;
  lastSequence: number;
  consumers: number;
}

interface SeenEpoch {
  epoch: string;
  lastSequence: number;
  events: StreamEvent[];
  messages: PublishedMessage[];
}

// Pause between two reads. If an epoch ends, the events of its last second can be missing; the rest is enough to find losses.
const readEveryMs = 1_000;

/** Reads the EVENTS stream without the gateways, and keeps the events of each epoch. */
export class StreamTap {
  private readonly epochs: SeenEpoch[] = [];
  private isFollowing = false;
  private following: Promise<void> = Promise.resolve();

  private constructor(readonly connection: NatsConnection) {}

  /** Connects as the stream's owner, who may purge and delete it. */
  static async connect(servers: Servers): Promise<StreamTap> {
    const urls = [servers.nats.urlFor('events')];
    return new StreamTap(await connectNats({ urls, name: 'live-chaos', account: 'EVENTS' }));
  }

  async close(): Promise<void> {
    await this.stopFollowing();
    await this.connection.close();
  }

  /** Reads the stream every second until `stopFollowing`, because the broker can lose events later. */
  follow(): void {
    this.isFollowing = true;
    this.following = this.readAgainAndAgain();
  }

  async stopFollowing(): Promise<void> {
    this.isFollowing = false;
    await this.following;
  }

  /** All events that this tap has seen on the stream, by epoch. */
  async readHistory(): Promise<StreamHistory> {
    await this.read();
    return this.epochs.map(({ epoch, events }) => ({ epoch, events }));
  }

  /** All messages of the current epoch, including duplicates. */
  async readMessages(): Promise<readonly PublishedMessage[]> {
    await this.read();
    return this.epochs.at(-1)?.messages ?? [];
  }

  async readState(): Promise<StreamState> {
    const manager = await this.manage();
    const { config, state } = await manager.streams.info(eventsStreamName);
    const epoch = parseStreamDescription(config.description ?? '')?.epoch;
    if (epoch === undefined) throw new Error('the stream has no epoch in its description');
    const { first_seq, last_seq, consumer_count } = state;
    return { epoch, firstSequence: first_seq, lastSequence: last_seq, consumers: consumer_count };
  }

  manage(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { checkAPI: false, timeout: 2_000 });
  }

  private async readAgainAndAgain(): Promise<void> {
    while (this.isFollowing) {
      // Fails while the broker restarts or the stream is being recreated. The next read gets the rest.
      await this.read().catch(() => undefined);
      await wait(readEveryMs);
    }
  }

  private async read(): Promise<void> {
    const state = await this.readState();
    if (this.epochs.at(-1)?.epoch !== state.epoch)
      this.epochs.push({ epoch: state.epoch, lastSequence: 0, events: [], messages: [] });
    const seen = this.epochs.at(-1);
    if (!seen || state.lastSequence < Math.max(seen.lastSequence + 1, state.firstSequence)) return;
    const read = await this.readMessagesFrom(seen.lastSequence + 1, state.lastSequence);
    // If the epoch has changed during the read, the events can belong to either epoch. Drop them.
    if ((await this.readState()).epoch !== state.epoch) return;
    const known = new Set(seen.events.map(({ event }) => event));
    for (const { sequence, message } of read) {
      seen.messages.push(message);
      const fields = readRecord(message.text);
      // After a crash, the relay can publish an event twice. Count only the first copy.
      if (known.has(fields.event)) continue;
      known.add(fields.event);
      seen.events.push({ ...fields, sequence, check: Number.parseInt(message.id.slice(-8), 16) });
    }
    seen.lastSequence = state.lastSequence;
  }

  private async readMessagesFrom(
    first: number,
    last: number,
  ): Promise<{ sequence: number; message: PublishedMessage }[]> {
    const consumer = await jetstream(this.connection).consumers.get(eventsStreamName, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: first,
    });
    const found: { sequence: number; message: PublishedMessage }[] = [];
    try {
      const reading = await consumer.consume({ max_messages: 1_000, abort_on_missing_resource: true });
      const giveUp = setTimeout(() => void reading.close(), 10_000);
      for await (const message of reading) {
        const id = message.headers?.get('Nats-Msg-Id') ?? '';
        found.push({ sequence: message.seq, message: { id, text: message.string() } });
        if (message.seq >= last) break;
      }
      clearTimeout(giveUp);
      await reading.close();
    } finally {
      // If the deletion fails, the unused consumer expires.
      await consumer.delete().catch(() => undefined);
    }
    if ((found.at(-1)?.sequence ?? 0) < last)
      throw new Error(`cannot read the stream up to sequence ${last}`);
    return found;
  }
}
