import {
  instanceReportSubject,
  natsUsers,
  parseInstanceReport,
  type ClosedConnection,
  type InstanceReport,
  type LiveReport,
} from '@stream-events/contracts';
import { Counter, createLogger, Gauge, Health, Registry } from '@stream-events/service';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { InstanceReporter } from './instance-reporter.js';
import { RequestClient } from './request-client.js';

describe(InstanceReporter.name, () => {
  let nats: TestNats;
  let [gateway, client]: RequestClient[] = [];
  let reports: InstanceReport[];
  let reporter: InstanceReporter | undefined;

  beforeAll(async () => {
    nats = await startTestNats(Object.values(natsUsers));
    [gateway, client] = (['gateway', 'events'] as const).map(
      (user) => new RequestClient({ urls: [nats.urlFor(user)], name: user }),
    );
    await Promise.all([gateway?.connect(), client?.connect()]);
    gateway?.listen(instanceReportSubject, (text) => {
      const report = parseInstanceReport(text);
      if (report) reports.push(report);
    });
    await gateway?.ping();
  });
  beforeEach(() => {
    reports = [];
  });
  afterEach(async () => {
    reporter?.stop();
    // Flush, so that the next test does not get the last reports of this one.
    await client?.ping();
    await gateway?.ping();
  });
  afterAll(async () => {
    await Promise.all([gateway?.close(), client?.close()]);
    await nats.stop();
  });

  function start(shell: { health: Health; metrics: Registry }, readLive?: () => LiveReport): void {
    const logger = createLogger('test', 'silent');
    reporter = new InstanceReporter(
      client!,
      { ...shell, logger },
      {
        ...(readLive && { readLive }),
        service: 'events',
        measures: {
          events_stored_per_second: { metric: 'stored', labels: { outcome: 'stored' }, isRate: true },
          database_bytes: { metric: 'bytes' },
          outbox_overdue_seconds: { metric: 'unreadable' },
        },
        intervalMs: 20,
      },
    );
    reporter.start();
  }

  it('reports the health and the measures until it leaves', async () => {
    const [health, metrics] = [new Health(), new Registry()];
    health.register('events database', () => Promise.reject(new Error('refused')));
    const stored = new Counter({ name: 'stored', help: '-', labelNames: ['outcome'], registers: [metrics] });
    new Gauge({ name: 'bytes', help: '-', registers: [metrics] }).set(3);
    const counting = setInterval(() => {
      stored.inc({ outcome: 'stored' }, 1);
      stored.inc({ outcome: 'known' }, 1_000_000);
    }, 1);
    start({ health, metrics });

    await eventually(() => expect(reports.at(-1)?.measures.events_stored_per_second).toBeGreaterThan(0));
    clearInterval(counting);
    expect(reports.at(-1)).toMatchObject({
      service: 'events',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      processId: process.pid,
      problems: ['events database: refused'],
      measures: { database_bytes: 3, memory_bytes: expect.any(Number) },
    });
    // The rate is about 1,000 per second; including the other outcome, it would be a billion.
    expect(reports.at(-1)?.measures.events_stored_per_second).toBeLessThan(1_000_000);
    reporter?.stop();
    await eventually(() => expect(reports.at(-1)).toMatchObject({ isLeaving: true }));
    expect(new Set(reports.map(({ id }) => id)).size).toBe(1);
  });

  it('continues after a report that was too large for NATS', async () => {
    const closed = Array.from({ length: 2 ** 21 }, () => ({}) as ClosedConnection);
    const later = [{ count: 1, open: [], closed }];
    start(
      { health: new Health(), metrics: new Registry() },
      () => later.pop() ?? { count: 2, open: [], closed: [] },
    );

    await eventually(() => expect(reports.at(-1)?.live?.count).toBe(2));
  });

  it('leaves out a measure that cannot be read', async () => {
    const metrics = new Registry();
    new Gauge({
      name: 'unreadable',
      help: '-',
      registers: [metrics],
      collect: () => Promise.reject(new Error('the database is gone')),
    });
    start({ health: new Health(), metrics });

    await eventually(() => expect(reports.length).toBeGreaterThan(1));
    expect(Object.keys(reports[1]?.measures ?? {})).toEqual(['memory_bytes']);
  });
});
