import {
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { headers, nanos, type NatsConnection } from '@nats-io/transport-node';
import {
  eventsStreamName,
  eventsStreamSubjects,
  natsUsers,
  printEventRecord,
  printStreamDescription,
} from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { v7 } from 'uuid';
import { EventsStreamClient } from '../src/live/stream/events-stream-client.js';

const publishedAtOnce = 500;
// Long enough for a busy machine.
const patientLimitMs = 10_000;
// A stopped NATS server does not respond, so retry soon.
const retryLimitMs = 2_000;

/** A gateway's stream client. A test can make NATS appear unavailable to this client without stopping the server. */
class HoldableStream extends EventsStreamClient {
  isHeld = false;

  override get isConnected(): boolean {
    return !this.isHeld && super.isConnected;
  }
}

/** A NATS server with an EVENTS stream. Creates and fills the stream as the events service does. */
export class EventsBroker {
  /** Replaces the events service's record of erased messages. */
  readonly erased = {
    wereErased: (_epoch: string, from: number, to: number): Promise<boolean> => {
      const sequences = Array.from({ length: to - from + 1 }, (_, index) => from + index);
      return Promise.resolve(sequences.every((sequence) => this.erasedSequences.has(sequence)));
    },
  };
  private readonly erasedSequences = new Set<number>();
  private readonly streams: HoldableStream[] = [];

  private constructor(
    readonly nats: TestNats,
    private readonly events: NatsConnection,
    /** A connection with all permissions. Exists only in tests. */
    readonly operator: NatsConnection,
  ) {}

  /** Starts a NATS server without a stream. */
  static async start(): Promise<EventsBroker> {
    const { account } = natsUsers['events.events'];
    const operator = { ...natsUsers.events, name: 'operator', account, publish: ['>'], subscribe: ['>'] };
    const nats = await startTestNats([...Object.values(natsUsers), operator]);
    const connect = (name: string) => connectNats({ urls: [nats.urlFor(name)], name });
    return new EventsBroker(nats, await connect('events.events'), await connect('operator'));
  }

  async close(): Promise<void> {
    await Promise.all(this.streams.map((stream) => stream.close()));
    await Promise.all([this.events.close(), this.operator.close()]);
    await this.nats.stop();
  }

  /** Connects to the stream as a gateway does. */
  async connectGateway(): Promise<EventsStreamClient> {
    const stream = new HoldableStream({
      urls: [this.nats.urlFor('gateway')],
      name: 'gateway-live',
      account: 'EVENTS',
    });
    this.streams.push(stream);
    await stream.connect();
    return stream;
  }

  async manage(timeout = patientLimitMs): Promise<JetStreamManager> {
    return jetstreamManager(this.events, { checkAPI: false, timeout });
  }

  async createStream(epoch: string | undefined): Promise<void> {
    await (
      await this.manage()
    ).streams.add({
      name: eventsStreamName,
      subjects: [eventsStreamSubjects],
      description: printStreamDescription({ platform: 'simulator', epoch }),
      // The shortest possible deduplication window. Publishing an event again later then stores it twice.
      duplicate_window: nanos(100),
    });
  }

  async deleteStream(): Promise<void> {
    await (await this.manage()).streams.delete(eventsStreamName);
  }

  /** Changes the epoch of the existing stream. */
  async writeEpoch(epoch: string): Promise<void> {
    const { streams } = await this.manage();
    const { config } = await streams.info(eventsStreamName);
    const description = printStreamDescription({ platform: 'simulator', epoch });
    await streams.update(eventsStreamName, { ...config, description });
  }

  /** Removes all messages before `firstSequence`, as if they had expired. */
  async expire(firstSequence: number): Promise<void> {
    await (await this.manage()).streams.purge(eventsStreamName, { seq: firstSequence });
  }

  /** Removes one message and leaves a gap in the sequences. */
  async remove(sequence: number): Promise<void> {
    await (await this.manage()).streams.deleteMessage(eventsStreamName, sequence);
  }

  /** Removes many messages in parallel, because each deletion waits for its response. */
  async removeAll(sequences: Iterable<number>): Promise<void> {
    const { streams } = await this.manage();
    await Promise.all(Array.from(sequences, (sequence) => streams.deleteMessage(eventsStreamName, sequence)));
  }

  /** Removes one message and records it as erased. */
  async erase(sequence: number): Promise<void> {
    this.noteErased([sequence]);
    await this.remove(sequence);
  }

  /** Records messages as erased. The test itself must remove them. */
  noteErased(sequences: readonly number[]): void {
    for (const sequence of sequences) this.erasedSequences.add(sequence);
  }

  /** Deletes all consumers, even while gateways delete theirs. */
  async deleteConsumers(): Promise<void> {
    const { consumers } = await this.manage();
    for await (const { name } of consumers.list(eventsStreamName))
      await consumers.delete(eventsStreamName, name).catch((error: unknown) => {
        if (!isConsumerNotFound(error)) throw error;
      });
  }

  /** Counts consumers that are created after this call. NATS reports each one with a short delay. */
  async countConsumers(): Promise<{ count: () => Promise<number> }> {
    let made = 0;
    this.operator.subscribe(`$JS.EVENT.ADVISORY.CONSUMER.CREATED.${eventsStreamName}.*`, {
      callback: () => {
        made += 1;
      },
    });
    await this.operator.flush();
    return {
      count: async () => {
        await this.operator.flush();
        return made;
      },
    };
  }

  /** Makes NATS appear unavailable to all gateways, or available again. */
  hold(isHeld: boolean): void {
    for (const stream of this.streams) stream.isHeld = isHeld;
  }

  /** Publishes events in this order. Resolves when the stream has stored them. */
  async publish(ids: readonly string[]): Promise<void> {
    // After a NATS restart, this connection can recover later than others.
    await eventually(async () => (await this.manage(retryLimitMs)).streams.info(eventsStreamName));
    // Publish in batches: each message has a time limit, and thousands at once would delay each other.
    for (let first = 0; first < ids.length; first += publishedAtOnce)
      await Promise.all(ids.slice(first, first + publishedAtOnce).map((id) => this.publishOne(id)));
  }

  private async publishOne(id: string): Promise<void> {
    const messageHeaders = headers();
    messageHeaders.set('Nats-Msg-Id', id);
    const options = { headers: messageHeaders, timeout: patientLimitMs };
    await this.events.request('events.platform.channel-follow.1', record(id), options);
  }
}

function isConsumerNotFound(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound;
}

/** Returns ids one millisecond apart, oldest first. The first is `agoMs` milliseconds old. */
export function newIds(count: number, agoMs = 0): string[] {
  const now = Date.now() - agoMs;
  return Array.from({ length: count }, (_, index) => v7({ msecs: now + index }));
}

function record(id: string): string {
  return printEventRecord({
    id,
    eventId: null,
    eventType: 'channel-follow',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: '{"user_id":"1","broadcaster_user_id":"1"}',
  });
}
