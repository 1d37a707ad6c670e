import { jest } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { natsUsers } from '@stream-events/contracts';
import { IngestModule, IngestPublisher } from '@stream-events/ingest';
import { RequestClient } from '@stream-events/messaging';
import { inbound, type SocketMessage } from '@stream-events/platforms';
import { Health, NestLogger, Registry, ShellModule } from '@stream-events/service';
import {
  createTestDatabase,
  eventually,
  freePort,
  HostedService,
  startTestNats,
  type TestDatabase,
  type TestNats,
} from '@stream-events/testing';
import { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { connectConnector } from '../../test/connect-connector.js';
import { LogRecorder } from '../../test/log-recorder.js';
import { DeliveryGapsRepository } from './delivery-gaps.repository.js';
import { DeliveryGaps } from './delivery-gaps.service.js';
import { SOCKET_QUEUE_OPTIONS, SocketIngest } from './socket-ingest.service.js';
import { SocketsModule } from './sockets.module.js';

// Long enough for the services to reconnect to the restarted nats-server and to store everything.
const patiently = { timeoutMs: 60_000 };
jest.setTimeout(180_000);

const source = { transport: 'websocket', source: 'socket of 77' } as const;

/** Returns a cheer as it arrives over a socket. */
function cheer(bits: number, changes: object = {}): SocketMessage {
  const subscription = {
    type: 'channel.cheer',
    version: '1',
    condition: { broadcaster_user_id: '77' },
    created_at: '2026-11-21T07:00:00.123456789Z',
  };
  const metadata = {
    message_id: v7(),
    message_type: 'notification',
    message_timestamp: new Date().toISOString(),
    ...changes,
  };
  const payload = { subscription, event: { broadcaster_user_id: '77', bits } };
  const frame = inbound.readFrame(Buffer.from(JSON.stringify({ metadata, payload })));
  if (frame.kind !== 'message') throw new Error(`read a ${frame.kind}`);
  return frame.message;
}

describe(SocketIngest.name, () => {
  let nats: TestNats;
  let database: TestDatabase;
  let store: DataSource;
  let events: HostedService;
  const running: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    [nats, database] = await Promise.all([startTestNats(Object.values(natsUsers)), createTestDatabase()]);
    events = new HostedService('events', {
      HOST: '127.0.0.1',
      ADMIN_PORT: String(await freePort()),
      DATABASE_URL: database.urlFor('events'),
      NATS_URL: nats.urlFor('events'),
      PLATFORM: 'simulator',
      SECRET_KEY: 'k'.repeat(32),
      EVENTS_MAX_GB: '1',
      INGEST_MAX_GB: '1',
      LOG_LEVEL: 'silent',
    });
    await events.start();
    store = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((stop) => stop()));
    await store.query('TRUNCATE platform_connector.delivery_gaps');
  });
  afterAll(async () => {
    await store.destroy();
    await events.stop();
    await nats.stop();
    await database.drop();
  });

  /** Starts the part of a connector that receives messages from sockets. Uses separate connections. */
  const startConnector = async (options: object = {}) => {
    const metrics = new Registry();
    const logs = new LogRecorder();
    const url = nats.urlFor('platform-connector');
    const client = new RequestClient({ urls: [url], name: 'platform-connector' });
    const dataSource = await connectConnector(database, 2);
    const shell = { config: {}, logger: logs.logger, health: new Health(), metrics };
    const app: INestApplicationContext = await Test.createTestingModule({
      imports: [
        ShellModule.register(shell, [
          { provide: DataSource, useValue: dataSource },
          { provide: RequestClient, useValue: client },
          {
            provide: SOCKET_QUEUE_OPTIONS,
            useValue: { messages: 1_000, characters: 1_000_000, stopMs: 50, ...options },
          },
        ]),
        IngestModule.register(
          { urls: [url], name: 'platform-connector-ingest' },
          { app: 'platform-connector', hasFallback: true, circuitRestMs: 50 },
        ),
        SocketsModule,
      ],
    })
      .setLogger(new NestLogger(logs.logger))
      .compile();
    await client.connect();
    await app.get(IngestPublisher).connect();
    app.get(DeliveryGaps).start();
    let isStopped = false;
    const stop = async (): Promise<void> => {
      if (isStopped) return;
      isStopped = true;
      await app.get(SocketIngest).stop();
      await app.get(DeliveryGaps).stop();
      await app.get(IngestPublisher).close();
      await client.close();
      await app.close();
      await dataSource.destroy();
    };
    running.push(stop);
    const count = async (result: string): Promise<number> => {
      const counter = metrics.getSingleMetric('platform_connector_socket_messages_total');
      const { values } = await counter!.get();
      return values.find(({ labels }) => labels.result === result)?.value ?? 0;
    };
    return { ingest: app.get(SocketIngest), gaps: app.get(DeliveryGapsRepository), logs, count, stop };
  };

  const stored = async (): Promise<number[]> => {
    const rows = await store.query<{ bits: number }[]>(
      `SELECT (event_data->>'bits')::int AS bits FROM events.events ORDER BY id`,
    );
    return rows.map(({ bits }) => bits);
  };
  const range = (from: number, count: number): number[] =>
    Array.from({ length: count }, (_, index) => from + index);

  it('stores messages in their order, each once', async () => {
    const { ingest, count } = await startConnector();
    const messages = range(1, 300).map((bits) => cheer(bits));
    // Repeat the last message only: of two copies, either may be the one that is stored.
    for (const message of [...messages, messages.at(-1)!]) ingest.accept(message, source);

    const counts = await eventually(async () => {
      const results = ['stored', 'known', 'deferred'];
      const [inStore = 0, known = 0, deferred = 0] = await Promise.all(results.map(count));
      expect(inStore + known + deferred).toBe(301);
      return { inStore, known, deferred };
    }, patiently);
    await eventually(async () => expect(await stored()).toEqual(range(1, 300)), patiently);
    // On a busy machine, a batch can time out. Its messages then go through the INGEST stream.
    if (counts.deferred === 0) expect(counts).toEqual({ inStore: 300, known: 1, deferred: 0 });
    const [event] = await store.query<object[]>(
      'SELECT event_type, event_id, event_source, origin, event_data::text AS data FROM events.events ORDER BY id LIMIT 1',
    );
    expect(event).toEqual({
      event_type: 'channel-cheer',
      event_id: messages[0]!.id,
      event_source: 'PlatformSub',
      origin: 'platform',
      data: '{"broadcaster_user_id":"77","bits":1}',
    });
  });

  it('ignores messages that are not events, and reports those that it cannot read', async () => {
    const { ingest, count, logs } = await startConnector();
    ingest.accept(cheer(2_000, { message_type: 'something-new' }), source);
    ingest.accept(cheer(2_001, { message_type: 'webhook_callback_verification' }), source);
    ingest.accept(cheer(2_002, { message_id: 'x'.repeat(256) }), source);

    expect([await count('ignored'), await count('bad_message')]).toEqual([1, 2]);
    expect(logs.text).toContain('cannot read a platform message');
  });

  it('keeps messages while NATS is down, and stores each of them once', async () => {
    const { ingest, gaps, count } = await startConnector();
    await nats.kill();
    for (const bits of range(3_000, 500)) ingest.accept(cheer(bits), source);
    const accepted = Date.now();
    await eventually(() => expect(Date.now()).toBeGreaterThan(accepted));
    expect(ingest.settledUntil(source)).toBeLessThanOrEqual(accepted);
    expect(ingest.settledUntil({ ...source, source: 'another' })).toBeGreaterThan(accepted);
    await nats.restart();
    for (const bits of range(3_500, 100)) ingest.accept(cheer(bits), source);

    await eventually(async () => {
      const bits = await stored();
      expect(bits.filter((each) => each >= 3_000)).toEqual(range(3_000, 600));
    }, patiently);

    expect(await count('lost')).toBe(0);
    expect(await gaps.newest(10)).toEqual([]);
    await eventually(() => expect(ingest.settledUntil(source)).toBeGreaterThan(accepted), patiently);
  });

  it('reports what does not fit into memory as a gap', async () => {
    const { ingest, gaps, count, logs } = await startConnector({ messages: 3 });
    await nats.kill();
    const from = Date.now();
    for (const bits of range(4_000, 5)) ingest.accept(cheer(bits), source);
    const until = Date.now();

    const [gap] = await eventually(async () => {
      const newest = await gaps.newest(10);
      expect(newest).toMatchObject([{ lost: 2 }]);
      return newest;
    });
    expect(gap).toEqual({
      transport: 'websocket',
      source: 'socket of 77',
      from: expect.any(Number),
      until: expect.any(Number),
      lost: 2,
      reason: expect.stringContaining('queue was full'),
    });
    expect(gap!.from).toBeGreaterThanOrEqual(from);
    expect(gap!.until).toBeLessThanOrEqual(until);
    expect(await count('lost')).toBe(2);
    expect(logs.text).toContain('platform messages were lost');
    await nats.restart();
    await eventually(async () => {
      const bits = await stored();
      expect(bits.filter((each) => each >= 4_000)).toEqual([4_000, 4_001, 4_002]);
    }, patiently);
  });

  it('reports what is not stored when the connector stops', async () => {
    const { ingest, stop } = await startConnector();
    await nats.kill();
    for (const bits of range(5_000, 4)) ingest.accept(cheer(bits), source);
    await stop();
    await nats.restart();

    const { gaps } = await startConnector();
    expect(await gaps.newest(10)).toMatchObject([
      { lost: 4, reason: expect.stringContaining('connector stopped') },
    ]);
  });
});
