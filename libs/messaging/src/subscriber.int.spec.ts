import {
  AckPolicy,
  DeliverPolicy,
  jetstream as jetstreamIn,
  jetstreamManager as jetstreamManagerIn,
  type Consumer,
  type ConsumerConfig,
  type JetStreamClient,
  type JetStreamManager,
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
import { FailureLog } from '@stream-events/service';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { connectNats } from './connection.js';
import { ConsumerGate } from './consumer-gate.js';

const everything = { publish: ['>'], subscribe: ['>'], doNotPublish: [] };
const operators: NatsUser[] = [
  { ...natsUsers.events, ...everything, name: 'operator', passwordOf: 'events' },
  { ...natsUsers['events.events'], ...everything, name: 'operator.events', passwordOf: 'events' },
];
const durable = 'streamer-monitor-streams';
const stored = ['1', '2', '3'].map((id) => `{"id":"${id}"}`);
const log = new FailureLog({ info: () => undefined, warn: () => undefined });

let nats: TestNats;
/** Connections with all permissions in the accounts of the services and of the stream. */
let services: NatsConnection;
let events: NatsConnection;
/** The connections of the events service, on which the gate runs. */
let gateConnections: { services: NatsConnection; events: NatsConnection };
let gate: ConsumerGate;
let subscriber: NatsConnection;
/** Subjects that the broker refused to the subscriber. */
let refused: string[];
/** Subjects of all messages in the services' account. */
let heard: string[];

beforeAll(async () => {
  nats = await startTestNats([...Object.values(natsUsers), ...operators]);
  services = await connectNats({ urls: [nats.urlFor('operator')], name: 'test' });
  events = await connectNats({ urls: [nats.urlFor('operator')], name: 'test', account: 'EVENTS' });
  const options = { urls: [nats.urlFor('events')], name: 'gate' };
  const inServices = await connectNats(options);
  const inEvents = await connectNats({ ...options, account: 'EVENTS' });
  gateConnections = { services: inServices, events: inEvents };
});
afterAll(async () => {
  await Promise.all([gateConnections.services.close(), gateConnections.events.close()]);
  await Promise.all([services.close(), events.close()]);
  await nats.stop();
});

beforeEach(async () => {
  refused = [];
  heard = [];
  subscriber = await connectNats({ urls: [nats.urlFor('subscriber')], name: 'test' });
  void collectRefusals(subscriber);
  gate = new ConsumerGate({ ...gateConnections, log });
  gate.start();
  await gateConnections.services.flush();
  const ingest = await jetstreamManager(services);
  await ingest.streams.add({ name: ingestStreamName, subjects: [ingestSubject] });
  const { streams, consumers } = await jetstreamManager(events);
  await streams.add({ name: eventsStreamName, subjects: [eventsStreamSubjects] });
  await consumers.add(eventsStreamName, { durable_name: durable, ack_policy: AckPolicy.Explicit });
  for (const text of stored) await jetstream(events).publish('events.platform.stream-online.4711', text);
});
afterEach(async () => {
  await gate.stop();
  await subscriber.close();
  await (await jetstreamManager(services)).streams.delete(ingestStreamName);
  await (await jetstreamManager(events)).streams.delete(eventsStreamName);
});

async function collectRefusals(connection: NatsConnection): Promise<void> {
  for await (const status of connection.status())
    if (status.type === 'error' && status.error instanceof PermissionViolationError)
      refused.push(status.error.subject);
}

// A busy machine may exceed the client's defaults of 1 s and 5 s.
const timeout = 20_000;
const jetstream = (connection: NatsConnection): JetStreamClient => jetstreamIn(connection, { timeout });
const jetstreamManager = (connection: NatsConnection): Promise<JetStreamManager> =>
  jetstreamManagerIn(connection, { timeout });

/** Creates a consumer by a raw request, as an attacker's own client could. */
async function createConsumer(
  config: Partial<ConsumerConfig> & { name: string } & Record<string, unknown>,
  connection = subscriber,
): Promise<void> {
  const payload = JSON.stringify({ stream_name: eventsStreamName, config });
  const subject = `$JS.API.CONSUMER.CREATE.${eventsStreamName}.${config.name}`;
  const reply = (await connection.request(subject, payload, { timeout })).json<{ error?: object }>();
  if (reply.error) throw new Error(JSON.stringify(reply.error));
}

/** Returns the subject on which to acknowledge a message, which the client keeps private. */
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

/** Reads the state that an attack must not change. */
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

// Longer than any of these tests takes.
const inactive_threshold = nanos(600_000);
const api = '$JS.API';
/** Makes the broker reply to `target`, through every request that reading needs. Finally acknowledges a message. */
async function sendAnswersTo(target: string, connection: NatsConnection): Promise<Consumer> {
  const config = { ack_policy: AckPolicy.Explicit, headers_only: true, inactive_threshold };
  await createConsumer({ ...config, name: 'mine' }, connection);
  const mine = await jetstream(connection).consumers.get(eventsStreamName, 'mine');
  const message = expectMessage(await mine.next());
  const next = `${api}.CONSUMER.MSG.NEXT.EVENTS.mine`;
  for (const verb of ['INFO.EVENTS', 'LIST', 'NAMES'])
    connection.publish(`${api}.STREAM.${verb}`, '', { reply: target });
  connection.publish(next, '', { reply: target });
  // The broker replies to these two with an empty message. As a request on a DELETE subject, that message would be valid.
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
    for await (const message of await overlay.fetch({ max_messages: 3, expires: 30_000 }))
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
      ...Object.keys(durableConsumers).flatMap((name) => [
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
    `${api}.CONSUMER.MSG.NEXT.${ofDurable}`,
  ];
  it.each(pushTargets)('cannot have events pushed to %s', async (target) => {
    const before = await readState();
    heard = [];
    for (const connection of [services, events])
      connection.subscribe('>', { callback: (_, { subject }) => void heard.push(subject) });
    await Promise.all([services.flush(), events.flush()]);
    const push = { ack_policy: AckPolicy.None, deliver_policy: DeliverPolicy.All };

    // The broker ignores the case of field names, and even reads a long s (ſ) as an s.
    for (const [index, field] of ['deliver_subject', 'Deliver_Subject', 'DELIVER_SUBJECT'].entries())
      await expect(createConsumer({ ...push, name: `attack-${index}`, [field]: target })).rejects.toThrow(
        'push consumers are not available',
      );
    await createConsumer({ ...push, name: 'pull', deliver_ſubject: target, deliver_subject: '' });

    const { consumers } = await jetstreamManager(events);
    expect((await consumers.info(eventsStreamName, 'pull')).config).not.toHaveProperty('deliver_subject');
    const created: string[] = [];
    for await (const { name } of consumers.list(eventsStreamName)) created.push(name);
    expect(created.sort()).toEqual(['pull', durable].sort());
    expect(heard.filter((subject) => subject === target)).toEqual([]);
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
    listen(services, target); // the broker treats exact subjects differently
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

  it('can create 500 consumers and not one more, while our services create theirs', async () => {
    const { consumers } = await jetstreamManager(events);
    const ephemeral = { ack_policy: AckPolicy.None, inactive_threshold };
    const create = (name: string): Promise<string> =>
      eventually(async () => {
        const outcome = await createConsumer({ ...ephemeral, name }).then(
          () => 'created',
          (error: unknown) => String(error),
        );
        // The gate waits 4 s for JetStream. A consumer that was created too late for that can be opened again.
        if (outcome.includes('"err_code":10008')) throw new Error(outcome);
        return outcome;
      });
    // Consumers of our own services do not count.
    await consumers.add(eventsStreamName, { ...ephemeral, name: 'of-a-gateway' });
    const outcomes: string[] = [];
    for (let batch = 0; batch < 26; batch += 1) {
      const names = Array.from({ length: 20 }, (_, index) => `flood-${batch}-${index}`);
      outcomes.push(...(await Promise.all(names.map(create))));
    }

    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(500);
    expect(outcomes.filter((outcome) => outcome.includes('"err_code":10026'))).toHaveLength(20);
    // Opening an existing consumer again still works.
    expect(await create('flood-0-0')).toBe('created');
    const insider = await connectNats({ urls: [nats.urlFor('gateway')], name: 'test', account: 'EVENTS' });
    const reader = await jetstream(insider).consumers.get(eventsStreamName, { inactive_threshold: 60_000 });
    expect((await reader.next())?.string()).toBe(stored[0]);
    await insider.close();
    const own = await jetstream(events).consumers.get(eventsStreamName, durable);
    expect((await own.next())?.string()).toBe(stored[0]);
    // A consumer that disappears makes room for another one.
    await consumers.delete(eventsStreamName, 'flood-1-1');
    await eventually(async () => expect(await create('after')).toBe('created'));
    expect(await create('one-more')).toContain('maximum consumers limit reached');
  }, 240_000);

  it('uses no place for a consumer that JetStream refuses', async () => {
    await gate.stop();
    gate = new ConsumerGate({ ...gateConnections, log, maxConsumers: 1 });
    gate.start();
    await gateConnections.services.flush();
    const explicit = { ack_policy: AckPolicy.Explicit, inactive_threshold };

    const backoff = [nanos(1_000), nanos(2_000)];
    await expect(createConsumer({ ...explicit, name: 'faulty', backoff, max_deliver: 1 })).rejects.toThrow(
      /max deliver/,
    );

    await createConsumer({ ...explicit, name: 'correct' });
    await expect(createConsumer({ ...explicit, name: 'another' })).rejects.toThrow(/limit reached/);
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['no configuration', '{"stream_name":"EVENTS"}'],
    ['a large configuration', JSON.stringify({ config: { name: 'mine', description: 'x'.repeat(20_000) } })],
  ])('gets an error for a request with %s', async (_, payload) => {
    const reply = await subscriber.request(`${api}.CONSUMER.CREATE.EVENTS.mine`, payload, { timeout });
    expect(reply.json()).toMatchObject({ error: { code: 400, err_code: 10_025 } });
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
