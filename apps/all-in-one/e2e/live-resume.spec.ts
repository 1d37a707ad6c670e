import { randomUUID } from 'node:crypto';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, uniqueType, type EventRecord } from './api.js';
import { LiveSocket } from './live-clients.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

// Wait limit. NATS and the services recover within 2 s after NATS was killed. Batches that hang are retried after 10 s.
const limitMs = 60_000;
// Test limit that covers all waits of a test.
const testLimitMs = 400_000;

describe('live clients', () => {
  let stack: Stack;
  /** Has permission to change the stream. */
  let operator: NatsConnection;
  let manager: JetStreamManager;
  const opened: LiveSocket[] = [];

  beforeAll(async () => {
    stack = await startStack({ killable: ['gateway'] });
    operator = await connectNats({
      urls: [stack.nats.urlFor('events')],
      name: 'test-operator',
      account: 'EVENTS',
    });
    manager = await jetstreamManager(operator);
  }, startLimitMs);
  afterAll(async () => {
    await operator.close();
    await stack.stop();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((socket) => socket.close()));
  });

  const connect = async (first: object, gateway = stack.url): Promise<LiveSocket> => {
    const socket = await LiveSocket.ready(gateway, { token: stack.ownerToken, ...first });
    opened.push(socket);
    return socket;
  };
  /**
   * Adds exactly one event. After an error response, it is unknown whether the event was stored, so retries send the same idempotency key.
   */
  const create = (type: string): Promise<EventRecord> => {
    const body = eventBody({ event_type: type });
    const headers = { 'idempotency-key': randomUUID() };
    return eventually(
      async () => {
        const answer = await stack.request<EventRecord>('POST', eventsPath, { body, headers });
        expect(answer.status).toBe(201);
        return answer.json;
      },
      { timeoutMs: limitMs },
    );
  };
  const idsOf = (socket: LiveSocket): (string | null)[] => socket.events.map(({ id }) => id);
  const expectIds = (socket: LiveSocket, records: EventRecord[]): Promise<void> =>
    eventually(() => expect(idsOf(socket)).toEqual(records.map(({ id }) => id)), { timeoutMs: limitMs });

  it(
    'stay connected and miss nothing while NATS is killed and restarted',
    async () => {
      const type = uniqueType();
      const sockets = [
        await connect({ event_type: type }),
        await connect({ event_type: type }, stack.urls[1]),
      ];
      const first = await create(type);
      for (const socket of sockets) await expectIds(socket, [first]);
      await stack.nats.kill();
      await stack.nats.restart();
      const second = await create(type);

      for (const socket of sockets) await expectIds(socket, [first, second]);
      expect(sockets.map(({ closed }) => closed)).toEqual([undefined, undefined]);
    },
    testLimitMs,
  );

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'resume after %s of their gateway',
    async (signal) => {
      const type = uniqueType();
      const before = await connect({ event_type: type }, stack.urls[1]);
      const first = await create(type);
      await expectIds(before, [first]);
      const gateway = stack.gateways[1]!;
      const ended = gateway.kill(signal);
      await eventually(() => expect(before.closed?.code).toBe(signal === 'SIGTERM' ? 1012 : 1006), {
        timeoutMs: limitMs,
      });
      await ended;
      stack.balanceRequests();
      const second = await create(type);
      await gateway.start();
      stack.balanceRequests();
      const after = await connect({ event_type: type, after: before.position }, gateway.url);

      await expectIds(after, [second]);
      expect(after.controls.map(({ event }) => event)).toEqual(['ready']);
    },
    testLimitMs,
  );

  it(
    'receive a gap when the events they missed have left the stream, and then new events',
    async () => {
      const type = uniqueType();
      const before = await connect({ event_type: type });
      await expectIds(before, [await create(type)]);
      await before.close();
      await create(type);
      await stack.waitUntilPublished();
      await manager.streams.purge(eventsStreamName);
      // Use a new gateway: a running one keeps the lost events in memory.
      const gateway = await stack.startGateway();
      const after = await connect({ event_type: type, after: before.position }, gateway.url);
      const next = await create(type);

      await expectIds(after, [next]);
      expect(after.controls).toMatchObject([{ event: 'gap', reason: 'expired' }, { event: 'ready' }]);
    },
    testLimitMs,
  );

  it(
    'receive a gap when the stream is recreated, then new events, each once',
    async () => {
      const type = uniqueType();
      const socket = await connect({ event_type: type });
      const first = await create(type);
      await expectIds(socket, [first]);
      const { position } = socket;
      await stack.waitUntilPublished();
      await manager.streams.delete(eventsStreamName);
      const second = await create(type);
      await expectIds(socket, [first, second]);
      // The client gets `ready` only after it has caught up with the second event.
      await eventually(() => expect(socket.controls).toMatchObject([{ event: 'ready' }, { event: 'gap', reason: 'other_epoch' }, { event: 'ready' }]), { timeoutMs: limitMs }); // prettier-ignore

      const resumed = await connect({ event_type: type, after: position });
      const third = await create(type);
      await eventually(() => expect(idsOf(resumed)).toContain(third.id), { timeoutMs: limitMs });
      expect(resumed.controls[0]).toMatchObject({ event: 'gap', reason: 'other_epoch' });
    },
    testLimitMs,
  );
});
