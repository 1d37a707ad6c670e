import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath } from './api.js';
import { LiveSocket } from './live-clients.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface Instance {
  id: string;
  service: string;
  status: string;
  problems: string[];
  measures: Record<string, number>;
}

interface LiveConnection {
  id: string;
  name: string | null;
  token_name: string | null;
  username: string;
  address: string;
  instance_id: string;
  state: string;
  lag_events: number;
}

interface System {
  instances: Instance[];
  missing_services: string[];
  database_bytes: number | null;
  events_stream_bytes: number | null;
  ingest_stream_bytes: number | null;
  live_connections_count: number;
  live_connections: LiveConnection[];
  closed_connections: (LiveConnection & { close_code: number; close_reason: string })[];
}

interface Delivery {
  is_published: boolean;
  matching_connections: LiveConnection[];
}

const path = '/api/v1/system';
// Instances report themselves every 5 s. The remaining time is a margin for a busy machine.
const reported = { timeoutMs: 60_000 };

describe('the system', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ platform: true });
  }, startLimitMs);

  afterAll(() => stack.stop());

  const read = async (gateway?: string): Promise<System> => {
    const { status, json } = await stack.request<System>(
      'GET',
      path,
      gateway === undefined ? {} : { gateway },
    );
    expect(status).toBe(200);
    return json;
  };

  const untilRead = (check: (system: System) => void, gateway?: string): Promise<void> =>
    eventually(async () => check(await read(gateway)), reported);

  it(
    'shows every instance of every service at every gateway, and the sizes',
    async () => {
      for (const url of stack.urls)
        await untilRead(({ instances, missing_services, ...sizes }) => {
          expect(instances.map(({ service, status }) => `${service} ${status}`)).toEqual(
            ['events', 'gateway', 'platform-connector', 'streamer-monitor'].flatMap((service) => [
              `${service} ready`,
              `${service} ready`,
            ]),
          );
          expect(missing_services).toEqual([]);
          const measured = new Set(instances.flatMap(({ measures }) => Object.keys(measures)));
          // All measures except `disk_free_bytes`, because these gateways do not check the disk.
          expect([...measured].sort()).toEqual([
            'events_stored_per_second',
            'live_connections',
            'live_events_delivered_per_second',
            'memory_bytes',
            'outbox_overdue_seconds',
            'platform_budget_calls',
            'webhook_messages_per_second',
          ]);
          expect(sizes.database_bytes).toBeGreaterThan(1_000_000);
          expect(sizes).toMatchObject({ events_stream_bytes: expect.any(Number), ingest_stream_bytes: 0 });
        }, url);
    },
    startLimitMs,
  );

  it(
    'shows live connections by name, token, and user, and their close code after they are gone',
    async () => {
      const [here = '', there = ''] = stack.urls;
      const created = await stack.request<{ key: string }>('POST', '/api/v1/tokens', {
        body: { name: 'overlay', scopes: ['events:live'] },
      });
      const socket = await LiveSocket.ready(here, { token: created.json.key, name: 'alerts' });

      await untilRead(({ live_connections_count, live_connections }) => {
        expect(live_connections_count).toBe(1);
        expect(live_connections).toEqual([
          expect.objectContaining({
            name: 'alerts',
            token_name: 'overlay',
            username: 'owner',
            address: '127.0.0.1',
            state: 'live',
            lag_events: 0,
          }),
        ]);
      }, there);
      await socket.close();
      await untilRead(({ live_connections_count, closed_connections }) => {
        expect(live_connections_count).toBe(0);
        expect(closed_connections).toEqual([
          expect.objectContaining({ name: 'alerts', close_code: 1005, close_reason: 'left' }),
        ]);
      }, there);
    },
    startLimitMs,
  );

  it(
    'says whether an event was published, and which of the user’s connections would receive it',
    async () => {
      const [here = '', there = ''] = stack.urls;
      const { json: event } = await stack.request<{ id: string }>('POST', eventsPath, {
        body: eventBody({ event_type: 'channel-raid', event_data: { to_broadcaster_user_id: '47' } }),
      });
      const { json: token } = await stack.request<{ key: string }>('POST', '/api/v1/tokens', {
        body: { name: 'other channel', scopes: ['events:live'], channel_ids: ['48'] },
      });
      const own = { token: stack.ownerToken };
      const sockets = await Promise.all([
        LiveSocket.ready(here, { ...own, name: 'raids', event_type: 'channel-raid' }),
        LiveSocket.ready(there, { ...own, name: 'everything' }),
        LiveSocket.ready(here, { ...own, name: 'cheers', event_type: 'channel-cheer' }),
        LiveSocket.ready(here, { token: token.key, name: 'other channel' }),
      ]);
      const readDelivery = (id: string) =>
        stack.request<Delivery>('GET', `${eventsPath}/${id}/delivery`, { gateway: there });
      await eventually(async () => {
        const { json } = await readDelivery(event.id);
        expect([json.is_published, json.matching_connections.map(({ name }) => name)]).toEqual([
          true,
          ['everything', 'raids'],
        ]);
      }, reported);
      expect(await readDelivery('nothing')).toMatchObject({ status: 404 });
      await Promise.all(sockets.map((socket) => socket.close()));
    },
    startLimitMs,
  );

  it(
    'removes an instance that stops',
    async () => {
      const gateway = await stack.startGateway();
      const countGateways = ({ instances }: System): number =>
        instances.filter(({ service }) => service === 'gateway').length;
      await untilRead((system) => expect(countGateways(system)).toBe(3), stack.url);
      await gateway.stop();
      await untilRead((system) => expect(countGateways(system)).toBe(2), stack.url);
    },
    startLimitMs,
  );
});
