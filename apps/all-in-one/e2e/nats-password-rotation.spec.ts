import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectNats } from '@stream-events/messaging';
import { eventually, type TestService } from '@stream-events/testing';
import { eventBody, eventsPath, uniqueType, type EventPage, type EventRecord } from './api.js';
import { connectToEvents } from './consuming/connect-to-events.js';
import { LiveSocket } from './live-clients.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const limitMs = 360_000;
const patiently = { timeoutMs: 60_000 };

/** Follows the procedures "Rotate the passwords of NATS" in docs/security.md. */
describe('the rotation of NATS passwords', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1 });
  }, startLimitMs);
  afterAll(() => stack.stop());

  const withPassword = (url: string, password: string): string => {
    const changed = new URL(url);
    changed.password = password;
    return changed.href;
  };

  /** Retries like the platform until the event is accepted. */
  const send = async (type: string): Promise<string | null> => {
    const headers = { 'idempotency-key': randomUUID() };
    return eventually(async () => {
      const body = eventBody({ event_type: type });
      const answer = await stack.request<EventRecord>('POST', eventsPath, { body, headers });
      if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
      return answer.json.id;
    }, patiently);
  };

  /** Waits until NATS rejects a password. NATS accepts the old password until it has read its new configuration. */
  const untilRefused = (connect: () => Promise<NatsConnection>): Promise<void> =>
    eventually(async () => {
      const connected = connect().then((connection) => connection.close());
      await expect(connected).rejects.toThrow(/authorization/i);
    }, patiently);

  it(
    'loses and doubles no event while the server is reloaded and the services run',
    async () => {
      const urls = { gateway: stack.nats.urlFor('gateway'), events: stack.nats.urlFor('events') };
      const next = { gateway: `new${randomUUID()}`, events: `new${randomUUID()}` };
      const both = (user: 'gateway' | 'events'): string =>
        `${withPassword(urls[user], next[user])},${urls[user]}`;

      // Step 1: give every instance the old and the new password.
      const replaced: TestService[] = [stack.gateway, stack.eventsService];
      await stack.startEvents({ NATS_URL: both('events') });
      const gateway = await stack.startGateway({ NATS_URL: both('gateway') });
      await Promise.all(replaced.map((service) => service.stop()));
      stack.balanceRequests();

      // Step 2: change the passwords on the server while events arrive.
      const type = uniqueType('rotation');
      const socket = await LiveSocket.ready(gateway.url, { token: stack.ownerToken, event_type: type });
      let isOver = false;
      const accepted: (string | null)[] = [];
      const sending = Promise.all(
        Array.from({ length: 4 }, async () => {
          while (!isOver) {
            accepted.push(await send(type));
            await wait(20);
          }
        }),
      );
      await eventually(() => expect(accepted.length).toBeGreaterThan(20), patiently);
      await stack.nats.changePasswords(next);
      await untilRefused(() => connectNats({ urls: [urls.gateway], name: 'old' }));
      const before = accepted.length;
      await eventually(() => expect(accepted.length).toBeGreaterThan(before + 20), patiently);
      isOver = true;
      await sending;

      await stack.waitUntilPublished();
      const ids = [...accepted].sort();
      const published = (await stack.readStream()).filter(({ record }) => record.event_type === type);
      expect(published.map(({ record }) => record.id).sort()).toEqual(ids);
      await eventually(() => expect(socket.events.map(({ id }) => id).sort()).toEqual(ids), patiently);
      await socket.close();
      const listed: (string | null)[] = [];
      let path: string | null = `${eventsPath}?event_type=${type}&page_size=100`;
      while (path !== null) {
        const { json }: { json: EventPage } = await stack.request<EventPage>('GET', path);
        listed.push(...json.results.map(({ id }) => id));
        path = json.next && new URL(json.next).pathname + new URL(json.next).search;
      }
      expect(listed.sort()).toEqual(ids);

      // Step 3: remove the old passwords.
      await stack.startEvents({ NATS_URL: withPassword(urls.events, next.events) });
      await stack.startGateway({ NATS_URL: withPassword(urls.gateway, next.gateway) });
      stack.balanceRequests();
      await send(type);
    },
    limitMs,
  );

  it(
    'lets a subscriber continue where it was, with the new password',
    async () => {
      const type = uniqueType('subscriber');
      const connect = (password: string): Promise<NatsConnection> =>
        connectToEvents(stack.nats.url.replace('nats://', ''), password);
      const read = async (password: string): Promise<string | undefined> => {
        const connection = await connect(password);
        const config = { durable_name: type, filter_subject: `events.*.${type}.>` };
        const { consumers } = await jetstreamManager(connection);
        await consumers.add('EVENTS', { ...config, ack_policy: AckPolicy.Explicit });
        const consumer = await jetstream(connection).consumers.get('EVENTS', type);
        const message = await consumer.next({ expires: 60_000 });
        await message?.ackAck();
        await connection.close();
        return message?.headers?.get('Nats-Msg-Id');
      };
      const [first, second] = [await send(type), await send(type)];
      const old = new URL(stack.nats.urlFor('subscriber')).password;
      expect(await read(old)).toBe(first);

      await stack.nats.changePasswords({ subscriber: 'the-new-password' });

      await untilRefused(() => connect(old));
      expect(await read('the-new-password')).toBe(second);
    },
    limitMs,
  );
});
