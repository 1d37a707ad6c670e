import { DeliverPolicy, jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, parseStreamDescription } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { waitFor } from '../measure/progress.js';
import type { ServerAddresses } from '../system/servers.js';
import type { PublishedMessage } from './checker.js';

export interface StreamState {
  epoch: string;
  firstSequence: number;
  lastSequence: number;
  consumers: number;
  /** In a cluster. */
  leader: string | undefined;
  /** The replicas that the leader knows, and how many of them are up to date. */
  replicas: { known: number; current: number };
}

/** A message, and its place on the stream. */
export interface StreamMessage extends PublishedMessage {
  sequence: number;
}

/** Messages of one epoch. */
export interface NewMessages {
  epoch: string;
  messages: StreamMessage[];
}

const requestLimitMs = 2_000;
const fetchMs = 5_000;
// After a fault, a cluster can need seconds to create a consumer.
const readLimitMs = 30_000;
const retryMs = 500;

/** Reads the EVENTS stream without the gateways, as its owner, who may also purge and delete it. */
export class StreamReader {
  private epoch = '';
  private lastSequence = 0;

  private constructor(private readonly connection: NatsConnection) {}

  static async connect(servers: ServerAddresses): Promise<StreamReader> {
    const urls = servers.nats.urlFor('events').split(',');
    return new StreamReader(await connectNats({ urls, name: 'stream-reader', account: 'EVENTS' }));
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  manage(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { checkAPI: false, timeout: requestLimitMs });
  }

  /** @throws Error while the stream has no leader, or is being recreated */
  async readState(): Promise<StreamState> {
    const { config, state, cluster } = await (await this.manage()).streams.info(eventsStreamName);
    const epoch = parseStreamDescription(config.description ?? '')?.epoch;
    if (epoch === undefined) throw new Error('the stream has no epoch in its description');
    const { replicas = [] } = cluster ?? {};
    return {
      epoch,
      firstSequence: state.first_seq,
      lastSequence: state.last_seq,
      consumers: state.consumer_count,
      leader: cluster?.leader,
      replicas: { known: replicas.length, current: replicas.filter(({ current }) => current).length },
    };
  }

  async deleteStream(): Promise<void> {
    await (await this.manage()).streams.delete(eventsStreamName);
  }

  /** Messages published since the last call. If the stream has a new epoch, returns all its messages. */
  async readNew(): Promise<NewMessages> {
    let last: unknown;
    const read = async (): Promise<NewMessages | undefined> => {
      try {
        return await this.tryReadNew();
      } catch (error) {
        last = error; // a customer's service would also try again
        return undefined;
      }
    };
    const found = await waitFor(read, { limitMs: readLimitMs, everyMs: retryMs });
    if (!found) throw last;
    return found;
  }

  private async tryReadNew(): Promise<NewMessages> {
    const { epoch, firstSequence, lastSequence } = await this.readState();
    const from = epoch === this.epoch ? this.lastSequence + 1 : 1;
    const hasNew = lastSequence >= Math.max(from, firstSequence);
    const messages = hasNew ? await this.readRange(from, lastSequence) : [];
    // The messages could belong to either epoch.
    if ((await this.readState()).epoch !== epoch) throw new Error('the epoch changed during the read');
    this.epoch = epoch;
    this.lastSequence = lastSequence;
    return { epoch, messages };
  }

  private async readRange(first: number, last: number): Promise<StreamMessage[]> {
    const consumer = await jetstream(this.connection).consumers.get(eventsStreamName, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: first,
    });
    const messages: StreamMessage[] = [];
    try {
      for (let before = -1; before < messages.length && (messages.at(-1)?.sequence ?? 0) < last;) {
        before = messages.length;
        for await (const message of await consumer.fetch({ max_messages: 1_000, expires: fetchMs })) {
          const id = message.headers?.get('Nats-Msg-Id') ?? '';
          messages.push({ sequence: message.seq, id, text: message.string() });
          if (message.seq >= last) break;
        }
      }
    } finally {
      // If the deletion fails, the unused consumer expires.
      await consumer.delete().catch(() => undefined);
    }
    const end = messages.at(-1)?.sequence ?? 0;
    if (end < last) throw new Error(`the stream has ${last} messages, but delivers only ${end}`);
    return messages.filter(({ sequence }) => sequence <= last);
  }
}
