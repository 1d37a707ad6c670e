import { eventually, type TestService } from '@stream-events/testing';
import { LiveSocket } from '../live-clients.js';
import { startLimitMs, startStack, type Stack } from '../stack.js';
import { readDocumentedMetrics, readRepositoryFile } from './documented-metrics.js';

/** The metrics of one admin port. */
interface Exported {
  types: Map<string, string>;
  /** Each sample with its metric's labels. */
  samples: { name: string; labels: Record<string, string> }[];
  text: string;
}

/** The test clients put this text into paths, queries, and bodies. It must not appear in any metric. */
const marker = 'marker4711';

const documented = readDocumentedMetrics();

describe('the exported metrics', () => {
  let stack: Stack;
  let exported: Record<string, Exported>;

  beforeAll(async () => {
    const killable = ['gateway', 'events', 'platform-connector', 'streamer-monitor'] as const;
    stack = await startStack({ platform: true, gateways: 1, events: 1, killable: [...killable] });
    await causeTraffic(stack);
    exported = {
      Gateway: await scrape(stack.gateway.adminUrl),
      'Events service': await scrape(stack.eventsService.adminUrl),
      'Platform connector': await scrape(stack.connectors[0]?.adminUrl),
      'Streamer monitor': await scrape(stack.monitors[0]?.adminUrl),
    };
  }, 2 * startLimitMs);

  afterAll(() => stack.stop());

  it.each(['Gateway', 'Events service', 'Platform connector', 'Streamer monitor'])(
    'are those of docs/metrics.md at the admin port: %s',
    (title) => {
      const { types, samples } = exported[title] ?? fail(title);
      const own = [...documented.values()].filter(({ section }) => section === title);
      const shared = [...documented.values()].filter(({ section }) => section === 'Several services');
      const ofProcess = [...documented.values()].filter(({ section }) => section === 'Every process');

      expect([...types.keys()].filter((name) => !documented.has(name))).toEqual([]);
      for (const { name, type } of own) expect([name, types.get(name)]).toEqual([name, type]);
      for (const { name, type } of [...own, ...shared, ...ofProcess])
        expect([undefined, type]).toContain(types.get(name));
      for (const { name } of ofProcess.filter(({ name }) => name.startsWith('nodejs_eventloop')))
        expect(types.has(name)).toBe(true);
      for (const { name, labels } of samples) {
        const metric = documented.get(name) ?? fail(name);
        const added = metric.type === 'histogram' || metric.type === 'summary' ? ['le', 'quantile'] : [];
        expect([...metric.labels, ...added]).toEqual(expect.arrayContaining(Object.keys(labels)));
      }
    },
  );

  it('include every metric of docs/metrics.md at some admin port', () => {
    const names = Object.values(exported).flatMap(({ types }) => [...types.keys()]);

    expect([...documented.keys()].filter((name) => !names.includes(name))).toEqual([]);
  });

  it('count events by transport and outcome, and requests by route and subject', async () => {
    const { gateway, eventsService } = stack;
    const expectCounted = (service: TestService, name: string, labels?: Record<string, string>) =>
      eventually(async () => expect(await service.metric(name, labels)).toBeGreaterThan(0));

    await expectCounted(gateway, 'ingest_events_total', { transport: 'api', outcome: 'stored' });
    await expectCounted(gateway, 'http_requests_total', { method: 'POST', status: '201' });
    await expectCounted(eventsService, 'nats_handled_requests_total', { result: 'ok' });
    await expectCounted(eventsService, 'events_store_lag_seconds_count');
    await expectCounted(eventsService, 'events_publish_lag_seconds_count');
    await expectCounted(gateway, 'live_delivery_lag_seconds_count');
    await eventually(async () => expect(await gateway.metric('health_check_failing')).toBe(0));
  });

  it('have bounded labels: routes of the API, and nothing that a client chose', () => {
    const { paths } = JSON.parse(readRepositoryFile('docs/openapi.json')) as { paths: object };
    const patterns = Object.keys(paths).map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1'));
    const routes = new Set(
      (exported.Gateway ?? fail('')).samples.flatMap(({ labels }) => labels.route ?? []),
    );

    expect(routes.size).toBeGreaterThan(4);
    expect([...routes].filter((route) => !patterns.includes(route) && route !== 'none')).toEqual([]);
    for (const { text } of Object.values(exported)) expect(text).not.toContain(marker);
  });
});

/** Sends the marker in paths, queries, and bodies. Also sends requests that cause other metrics. */
async function causeTraffic(stack: Stack): Promise<void> {
  const socket = await LiveSocket.ready(stack.url, { token: stack.ownerToken });
  const body = {
    event_type: marker,
    event_source: marker,
    event_data: { broadcaster_user_id: marker },
  };
  for (const path of ['/api/v1/platform-events', '/api/v1/platform-events/test'])
    await stack.request('POST', path, { body });
  await stack.request('GET', `/api/v1/platform-events?event_type=${marker}`);
  await stack.request('GET', `/api/v1/users/${marker}`);
  await stack.request('GET', `/${marker}`);
  await stack.request('GET', '/api/v1/streamers');
  await stack.request('GET', '/api/v1/platform/status');
  await stack.request('POST', '/api/v1/users', {
    body: { username: marker, password: `${marker} ${marker}` },
  });
  // Wait for a delivery before closing the socket, so that the gateway measures one.
  await eventually(() => expect(socket.events.length).toBeGreaterThan(0), { timeoutMs: 60_000 });
  await socket.close();
}

async function scrape(adminUrl = ''): Promise<Exported> {
  const response = await fetch(`${adminUrl}/metrics`);
  const text = await response.text();
  const types = new Map(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const samples = [...text.matchAll(/^(?<name>\w+)(?:\{(?<labels>.*)\})? \S+$/gm)].map(({ groups = {} }) => {
    const { name = '', labels = '' } = groups;
    const base = name.replace(/_(bucket|sum|count)$/, '');
    return {
      name: types.has(name) ? name : base,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, value]) => [key, value]),
      ) as Record<string, string>,
    };
  });
  return { types, samples, text };
}

function fail(what: string): never {
  throw new Error(`not documented or not exported: ${what}`);
}
