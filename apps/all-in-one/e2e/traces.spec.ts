import { randomUUID } from 'node:crypto';
import { eventually, freePort, ServiceProcess, type AppName } from '@stream-events/testing';
import { eventBody, eventsPath, uniqueType, type EventRecord } from './api.js';
import { LiveSocket } from './live-clients.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { TraceReceiver, type ReceivedSpan } from './trace-receiver.js';

/** On exit, prints the OpenTelemetry modules that the process loaded. */
const reportModules = `data:text/javascript,${encodeURIComponent(`
  import { createRequire } from 'node:module';
  const { cache } = createRequire(process.cwd() + '/');
  process.on('exit', () => {
    const names = Object.keys(cache).flatMap((path) => /@opentelemetry\\/[^/]+/.exec(path)?.[0] ?? []);
    process.stdout.write('otel modules: ' + JSON.stringify([...new Set(names)].sort()) + '\\n');
  });
`)}`;

const patiently = { timeoutMs: 50_000 };

describe('traces', () => {
  let receiver: TraceReceiver;
  let stack: Stack;
  let tracing: Record<string, string>;

  beforeAll(async () => {
    receiver = await TraceReceiver.start();
    tracing = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-test=let%20me%20in',
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      // Read by the OpenTelemetry SDK: export spans after 100 ms.
      OTEL_BSP_SCHEDULE_DELAY: '100',
    };
    const environment = { ...tracing, LOG_LEVEL: 'debug' };
    stack = await startStack({ events: 1, simulator: true, killable: ['gateway', 'events'], environment });
  }, startLimitMs);

  afterAll(async () => {
    await stack.stop();
    await receiver.stop();
  });

  /** Connects a live client to the second gateway. */
  const watch = (type: string): Promise<LiveSocket> =>
    LiveSocket.ready(stack.urls[1] ?? '', { token: stack.ownerToken, event_type: type });

  const chainTo = (spans: readonly ReceivedSpan[], last: ReceivedSpan | undefined): string[] => {
    if (!last) return [];
    const parent = spans.find(({ spanId }) => spanId === last.parentSpanId);
    return [...chainTo(spans, parent), `${last.service}: ${last.name}`];
  };

  /** Waits for the span of the delivery to a client. Returns the chain from the HTTP request to this span. */
  const chainOf = (requestId: string): Promise<string[]> =>
    eventually(() => {
      const spans = receiver.traceOf('http.request.id', requestId);
      const delivery = spans.find(({ attributes }) => attributes['live.clients'] === '1');
      const chain = chainTo(spans, delivery);
      // The processes export their spans at different times, so retry.
      if (!chain[0]?.startsWith('gateway: POST')) throw new Error(`only ${JSON.stringify(spans)}`);
      return chain;
    }, patiently);

  it('follow an event of a client from its request through both services to the socket', async () => {
    const type = uniqueType();
    const live = await watch(type);
    const { status, headers } = await stack.request<EventRecord>('POST', eventsPath, {
      body: eventBody({ event_type: type }),
    });
    expect(status).toBe(201);
    expect(await chainOf(headers.get('x-request-id') ?? '')).toEqual([
      'gateway: POST /api/v1/platform-events',
      'gateway: send request.events.store-batch',
      'events: handle request.events.store-batch',
      'events: publish to the stream',
      'gateway: deliver live',
    ]);
    // The trace context must not reach clients.
    await eventually(() => expect(live.messages.some((message) => message.event_type === type)).toBe(true));
    expect(live.texts.join()).not.toContain('traceparent');
    await live.close();
    expect([...receiver.paths]).toEqual(['POST /v1/traces application/json']);
    expect([...receiver.credentials]).toEqual(['let me in']);
  });

  it('have their id in the log lines of both services', async () => {
    const { status, headers } = await stack.request('GET', `${eventsPath}/${randomUUID()}`);
    expect(status).toBe(404);
    const requestId = headers.get('x-request-id') ?? '';
    const spans = await eventually(() => {
      const found = receiver.traceOf('http.request.id', requestId);
      expect(found.map(({ service }) => service)).toContain('events');
      return found;
    }, patiently);
    const [traceId] = new Set(spans.map((span) => span.traceId));
    for (const service of [stack.gateways, stack.events])
      // A process's output can arrive after its spans.
      await eventually(() => {
        const lines = service
          .flatMap(({ output }) => output.split('\n').slice(0, -1))
          .filter((line) => line.includes(requestId));
        expect(lines.map((line) => (JSON.parse(line) as { traceId?: string }).traceId)).toEqual([traceId]);
      });
  });

  it(
    'continue the trace of a trusted proxy, and of no other client',
    async () => {
      const traceId = randomUUID().replaceAll('-', '');
      const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
      const proxied = await stack.startGateway({ TRUST_PROXY: '127.0.0.1' });
      const [fromProxy, fromClient] = await Promise.all(
        [proxied.url, stack.url].map((url) => fetch(`${url}/api/v1/heartbeat`, { headers })),
      );
      const spanOf = (response: Response | undefined): Promise<ReceivedSpan> =>
        eventually(() => {
          const [span] = receiver.traceOf('http.request.id', response?.headers.get('x-request-id') ?? '');
          if (!span) throw new Error('the request has no span yet');
          return span;
        });
      expect(await spanOf(fromProxy)).toMatchObject({ traceId, parentSpanId: '00f067aa0ba902b7' });
      const { traceId: own, parentSpanId } = await spanOf(fromClient);
      expect(own).not.toBe(traceId);
      expect(parentSpanId).toBeUndefined();
    },
    startLimitMs,
  );

  it(
    'that no sampler takes make no span',
    async () => {
      const gateway = await stack.startGateway({
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0',
        OTEL_SERVICE_NAME: 'unsampled',
      });
      expect((await fetch(`${gateway.url}/api/v1/heartbeat`)).status).toBe(200);
      await gateway.stop();
      expect(receiver.spans.filter(({ service }) => service === 'unsampled')).toEqual([]);
    },
    startLimitMs,
  );

  describe('that are off', () => {
    /** Runs a service in its own process. Returns the OpenTelemetry modules that it loaded. */
    const modulesOf = async (app: AppName, environment: Record<string, string>): Promise<string[]> => {
      const ports = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) };
      const options = { nodeOptions: ['--import', reportModules] };
      const service = new ServiceProcess(app, { ...environment, ...ports }, options);
      await service.start();
      await service.stop();
      const [, names = 'null'] = /otel modules: (.*)/.exec(service.output) ?? [];
      return JSON.parse(names) as string[]; // Safe cast: printed by reportModules.
    };

    it.each(['gateway', 'events'] as const)(
      'load nothing of OpenTelemetry in %s but the API, which prom-client loads',
      async (app) => {
        const [service] = app === 'gateway' ? stack.gateways : stack.events;
        const { OTEL_EXPORTER_OTLP_ENDPOINT, ...off } = service?.environment ?? {};
        expect(OTEL_EXPORTER_OTLP_ENDPOINT).toBe(receiver.url);
        expect(await modulesOf(app, off)).toEqual(['@opentelemetry/api']);
        // Control: with the variable, this check finds the SDK.
        expect(await modulesOf(app, { ...off, ...tracing })).toContain('@opentelemetry/sdk-trace-base');
      },
      2 * startLimitMs,
    );
  });
});
