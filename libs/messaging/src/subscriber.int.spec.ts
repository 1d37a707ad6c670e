import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  jetstreamManager,
  type Consumer,
  type ConsumerConfig,
  type JsMsg,
} from '@nats-io/jetstream';
import { nanos, PermissionViolationError, type Msg, type NatsConnection } from '@nats-io/transport-node';
import {
  durableConsumers,
  eventsStreamName,
  eventsStreamSubjects,
  ingestStreamName,
  ingestSubject,
  natsUsers,
  type NatsUser,
} from '@stream-events/contracts';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { connectNats } from './connection.js';

const everything = { publish: ['>'], subscribe: ['>'], doNotPublish: [] };
const operators: NatsUser[] = [
  { ...natsUsers.events, ...everything, name: 'operator', passwordOf: 'events' },
  { ...natsUsers['events.events'], ...everything, name: 'operator.events', passwordOf: 'events' },
];
const durable = durableConsumers['stream-online'];
const stored = ['1', '2', '3'].map((id) => `{"id":"${id}"}`);

let nats: TestNats;
/** Has every permission in the accounts of the services and of the stream. */
let services: NatsConnection;
let events: NatsConnection;
let subscriber: NatsConnection;
/** The subjects that the broker refused the subscriber. */
let refused: string[];
/** The subjects of all messages in the account of the services. */
let heard: string[];

beforeAll(async () => {
  nats = await startTestNats([...Object.values(natsUsers), ...operators]);
  services = await connectNats({ urls: [nats.urlFor('operator')], name: 'test' });
  events = await connectNats({ urls: [nats.urlFor('operator')], name: 'test', account: 'EVENTS' });
});
afterAll(async () => {
  await Promise.all([services.close(), events.close()]);
  await nats.stop();
});

beforeEach(async () => {
  refused = [];
  heard = [];
  subscriber = await connectNats({ urls: [nats.urlFor('subscriber')], name: 'test' });
  void collectRefusals(subscriber);
  const ingest = await jetstreamManager(services);
  await ingest.streams.add({ name: ingestStreamName, subjects: [ingestSubject] });
  const { streams, consumers } = await jetstreamManager(events);
  await streams.add({ name: eventsStreamName, subjects: [eventsStreamSubjects] });
  await consumers.add(eventsStreamName, { durable_name: durable, ack_policy: AckPolicy.Explicit });
  for (const text of stored) await jetstream(events).publish('events.platform.stream-online.4711', text);
});
afterEach(async () => {
  await subscriber.close();
  await (await jetstreamManager(services)).streams.delete(ingestStreamName);
  await (await jetstreamManager(events)).streams.delete(eventsStreamName);
});

async function collectRefusals(connection: NatsConnection): Promise<void> {
  for await (const status of connection.status())
    if (status.type === 'error' && status.error instanceof PermissionViolationError)
      refused.push(status.error.subject);
}

// The client's default is 1 s, which a busy machine may exceed.
const timeout = 20_000;

/** Creates a consumer for the subscriber, as an attacker's own client would. */
async function createConsumer(
  config: Partial<ConsumerConfig> & { name: string },
  connection = subscriber,
): Promise<void> {
  const payload = JSON.stringify({ stream_name: eventsStreamName, config });
  const subject = `$JS.API.CONSUMER.CREATE.${eventsStreamName}.${config.name}`;
  const reply = (await connection.request(subject, payload, { timeout })).json<{ error?: object }>();
  if (reply.error) throw new Error(JSON.stringify(reply.error));
}

/** The subject on which a message is acknowledged; private to the client. */
function ackSubject(consumer: string, { info, seq }: JsMsg): string {
  const { deliveryCount, deliverySequence, timestampNanos, pending } = info;
  return `$JS.ACK.EVENTS.${consumer}.${deliveryCount}.${seq}.${deliverySequence}.${timestampNanos}.${pending}`;
}

function expectMessage(message: JsMsg | null): JsMsg {
  if (!message) throw new Error('there is no message');
  return message;
}

function listen(connection: NatsConnection, subject: string): Msg[] {
  const messages: Msg[] = [];
  connection.subscribe(subject, { callback: (_, message) => void messages.push(message) });
  return messages;
}

/** The state that an attack must not change. */
async function readState(): Promise<object> {
  const { streams, consumers } = await jetstreamManager(events);
  const [stream, consumer, ingest] = await Promise.all([
    streams.info(eventsStreamName),
    consumers.info(eventsStreamName, durable),
    (await jetstreamManager(services)).streams.info(ingestStreamName),
  ]);
  const { num_pending, num_ack_pending, ack_floor, config } = consumer;
  return {
    created: stream.created,
    config: stream.config,
    lastSequence: stream.state.last_seq,
    messages: stream.state.messages,
    consumer: { num_pending, num_ack_pending, ack_floor, config, created: consumer.created },
    ingest: ingest.state.messages,
  };
}

// Longer than any wait in these tests.
const inactive_threshold = nanos(60_000);
const api = '$JS.API';
/** Makes the broker reply on a subject, with every request that reading needs; acknowledges one message last. */
async function sendAnswersTo(target: string, connection: NatsConnection): Promise<Consumer> {
  const config = { ack_policy: AckPolicy.Explicit, headers_only: true, inactive_threshold };
  await createConsumer({ ...config, name: 'mine' }, connection);
  const mine = await jetstream(connection).consumers.get(eventsStreamName, 'mine');
  const message = expectMessage(await mine.next());
  const next = `${api}.CONSUMER.MSG.NEXT.EVENTS.mine`;
  for (const verb of ['INFO.EVENTS', 'LIST', 'NAMES'])
    connection.publish(`${api}.STREAM.${verb}`, '', { reply: target });
  connection.publish(next, '', { reply: target });
  // The broker replies to both with an empty message, which looks like a deletion request.
  connection.publish(next, '{"batch":5,"no_wait":true}', { reply: target });
  connection.publish(ackSubject('mine', message), '+ACK', { reply: target });
  return mine;
}

const ofDurable = `${eventsStreamName}.${durable}`;

describe('natsUsers.subscriber', () => {
  it('reads through ephemeral and durable consumers with filters, and acknowledges', async () => {
    const { consumers, streams } = await jetstreamManager(subscriber);
    expect((await streams.info(eventsStreamName)).state.messages).toBe(3);
    await consumers.add(eventsStreamName, {
      durable_name: 'overlay',
      filter_subject: 'events.platform.stream-online.>',
      ack_policy: AckPolicy.Explicit,
    });
    const overlay = await jetstream(subscriber).consumers.get(eventsStreamName, 'overlay');
    for await (const message of await overlay.fetch({ max_messages: 3, expires: 5_000 }))
      expect(await message.ackAck()).toBe(true);
    expect((await overlay.info()).ack_floor.stream_seq).toBe(3);

    const ephemeral = await jetstream(subscriber).consumers.get(eventsStreamName, {
      filter_subjects: 'events.*.stream-online.4711',
    });
    const texts: string[] = [];
    for await (const message of await ephemeral.consume())
      if (texts.push(message.string()) === stored.length) break;
    expect(texts).toEqual(stored);
    expect(refused).toEqual([]);
  });

  it('lists the EVENTS stream, and no consumers', async () => {
    const { streams, consumers } = await jetstreamManager(subscriber);
    const listed = await streams.list().next();
    expect(listed.map(({ config }) => config.name)).toEqual([eventsStreamName]);
    expect(await streams.names().next()).toEqual([eventsStreamName]);
    expect(await streams.find('events.platform.>')).toBe(eventsStreamName);
    // docs/events.md quotes this error message.
    await expect(consumers.list(eventsStreamName).next()).rejects.toThrow(
      'Permissions Violation for Publish to "$JS.API.CONSUMER.LIST.EVENTS"',
    );
  });

  it('receives replays', async () => {
    const messages = listen(subscriber, 'live.replay.>');
    await subscriber.flush();
    services.publish('live.replay.channel-raid.4711', 'again');
    await eventually(() => expect(messages.map((message) => message.string())).toEqual(['again']));
  });

  it('is refused to publish, to change the stream, and to use consumers that are not its own', async () => {
    const before = await readState();
    const subjects = [
      'events.platform.channel-raid.1',
      'live.replay.channel-raid.1',
      ingestSubject,
      'request.events.list',
      ...['UPDATE', 'PURGE', 'DELETE', 'MSG.DELETE', 'MSG.GET'].map((verb) => `${api}.STREAM.${verb}.EVENTS`),
      `${api}.STREAM.CREATE.MINE`,
      `${api}.STREAM.INFO.INGEST`,
      `${api}.CONSUMER.CREATE.INGEST.mine`,
      `${api}.CONSUMER.MSG.NEXT.INGEST.drain`,
      // Without a name in the subject, the payload could name any consumer.
      `${api}.CONSUMER.CREATE.EVENTS`,
      `${api}.CONSUMER.NAMES.EVENTS`,
      `${api}.CONSUMER.LIST.EVENTS`,
      `${api}.CONSUMER.DELETE.EVENTS.another`,
      ...Object.values(durableConsumers).flatMap((name) => [
        `${api}.CONSUMER.DELETE.EVENTS.${name}`,
        `${api}.CONSUMER.CREATE.EVENTS.${name}`,
        `${api}.CONSUMER.CREATE.EVENTS.${name}.events.platform.>`,
        `${api}.CONSUMER.DURABLE.CREATE.EVENTS.${name}`,
        `${api}.CONSUMER.INFO.EVENTS.${name}`,
        `${api}.CONSUMER.MSG.NEXT.EVENTS.${name}`,
        `$JS.ACK.EVENTS.${name}.1.1.1.1.0`,
      ]),
    ];
    for (const subject of subjects) subscriber.publish(subject, '{}');
    await eventually(() => expect(refused).toEqual(subjects));
    expect(await readState()).toEqual(before);
  });

  it.each([
    ['durable, in an unnamed request', `${api}.CONSUMER.CREATE.EVENTS.mine`, { durable_name: durable }],
    [
      'durable, as a durable of another name',
      `${api}.CONSUMER.DURABLE.CREATE.EVENTS.mine`,
      { durable_name: durable },
    ],
    ['name', `${api}.CONSUMER.CREATE.EVENTS.mine`, { name: durable }],
  ])('cannot take over a consumer whose name is in the payload only: %s', async (_, subject, config) => {
    const before = await readState();
    const payload = JSON.stringify({
      stream_name: eventsStreamName,
      config: { ...config, filter_subject: 'events.none' },
    });
    await subscriber.request(subject, payload, { timeout });
    expect(await readState()).toEqual(before);
  });

  const pushTargets = [
    ingestSubject,
    'live.replay.channel-raid.1',
    'request.events.list',
    'events.platform.forged.1',
    `${api}.STREAM.PURGE.EVENTS`,
    `${api}.STREAM.DELETE.EVENTS`,
    `${api}.CONSUMER.DELETE.${ofDurable}`,
  ];
  it.each(pushTargets)('cannot have events pushed to %s', async (deliver_subject) => {
    const before = await readState();
    heard = [];
    services.subscribe('>', { callback: (_, { subject }) => void heard.push(subject) });
    await services.flush();
    const proof = listen(events, 'proof.pushed');
    await events.flush();
    const push = { ack_policy: AckPolicy.None, deliver_policy: DeliverPolicy.All };

    for (const headers_only of [false, true])
      await createConsumer({ ...push, name: `attack-${headers_only}`, headers_only, deliver_subject }).catch(
        (error: unknown) => expect(String(error)).toContain('cycle'),
      );
    // The broker pushes within the account of the stream, where no one listens.
    await createConsumer({ ...push, name: 'proof', deliver_subject: 'proof.pushed' });

    await eventually(() => expect(proof).toHaveLength(stored.length));
    expect(heard.filter((subject) => subject === deliver_subject)).toEqual([]);
    expect(await readState()).toEqual(before);
  });

  const targets = [
    `${api}.STREAM.DELETE.EVENTS`,
    `${api}.STREAM.PURGE.EVENTS`,
    `${api}.CONSUMER.DELETE.${ofDurable}`,
    `${api}.CONSUMER.MSG.NEXT.${ofDurable}`,
    'events.platform.forged.1',
    'live.replay.forged.1',
    ingestSubject,
    'request.events.list',
  ];

  it.each(targets)('cannot have replies sent to %s', async (target) => {
    const before = await readState();
    const listening = listen(services, '>');
    listen(services, target); // the broker does some things for exact subjects only
    await services.flush();

    const mine = await sendAnswersTo(target, subscriber);

    await eventually(async () => expect((await mine.info()).ack_floor.stream_seq).toBe(1));
    expect(await readState()).toEqual(before);
    expect(listening.filter(({ subject }) => subject === target)).toEqual([]);
  });

  it('could have replies sent from within the account of the stream, which is why it has its own account', async () => {
    const urls = [nats.urlFor('gateway')];
    const insider = await connectNats({ urls, name: 'test', account: 'EVENTS' });
    await sendAnswersTo(`${api}.STREAM.PURGE.EVENTS`, insider);
    await eventually(async () => expect(await readState()).toMatchObject({ messages: 0 }));
    await insider.close();
  });

  // nats-server 2.9 allows the attack; 2.12 does not. Our services also learn from the platform what these events say.
  it('cannot withhold events from our durable consumers for longer than ack_wait', async () => {
    const { consumers } = await jetstreamManager(events);
    await consumers.update(eventsStreamName, durable, { ack_wait: nanos(1_000) });
    const deliver_subject = `${api}.CONSUMER.MSG.NEXT.${ofDurable}`;
    const push = { ack_policy: AckPolicy.None, deliver_policy: DeliverPolicy.All };
    const proof = listen(events, 'proof.pushed');
    await events.flush();
    await createConsumer({ ...push, name: 'attack', deliver_subject });
    await createConsumer({ ...push, name: 'proof', deliver_subject: 'proof.pushed' });
    await eventually(() => expect(proof).toHaveLength(stored.length));

    const consumer = await jetstream(events).consumers.get(eventsStreamName, durable);
    // A message may be delivered again: it must be acknowledged within 1 s.
    const texts = new Set<string>();
    for await (const message of await consumer.consume()) {
      message.ack();
      if (texts.add(message.string()).size === stored.length) break;
    }
    expect([...texts].sort()).toEqual(stored);
  });

  it('cannot acknowledge a message of another consumer through the reply subject of a request', async () => {
    const consumer = await jetstream(events).consumers.get(eventsStreamName, durable);
    const message = await consumer.next();
    const before = await readState();
    await createConsumer({ name: 'mine', ack_policy: AckPolicy.None, headers_only: true });

    const reply = ackSubject(durable, expectMessage(message));
    subscriber.publish(`${api}.CONSUMER.MSG.NEXT.EVENTS.mine`, '', { reply });
    subscriber.publish(reply, '+ACK');

    await eventually(() => expect(refused).toHaveLength(2));
    expect(await readState()).toEqual(before);
  });
});
