import { printInstanceReport, type InstanceReport } from '@stream-events/contracts';
import { InstanceBoard } from './instance-board.js';
import { toSystemRecord } from './system.dto.js';

const report: InstanceReport = {
  id: 'i1',
  service: 'events',
  version: '1.2.3',
  host: 'host',
  processId: 7,
  startedAt: 1_000,
  uptimeSeconds: 60,
  problems: [],
  measures: { database_bytes: 10 },
};

const connection = {
  id: 'c1',
  name: null,
  tokenName: null,
  username: 'ada',
  address: '::1',
  transport: 'websocket' as const,
  openedAt: 0,
};

describe(InstanceBoard.name, () => {
  const setup = () => {
    const clock = { now: 100_000 };
    const sut = new InstanceBoard(() => clock.now);
    const learn = (more: Partial<InstanceReport> = {}): void =>
      sut.learn(printInstanceReport({ ...report, ...more }));
    return {
      sut,
      learn,
      clock,
      statuses: () => toSystemRecord(sut.read(), null).instances.map(({ status }) => status),
    };
  };

  it('shows the last report of each instance, sorted by service and start', () => {
    const { sut, learn } = setup();
    learn({ id: 'young', startedAt: 9_000 });
    learn({ id: 'old' });
    learn({ id: 'edge', service: 'gateway' });
    learn({ id: 'old', problems: ['events database: refused'] });

    const { instances, missing_services } = toSystemRecord(sut.read(), null);
    expect(instances.map(({ id, status, problems }) => [id, status, problems])).toEqual([
      ['old', 'not_ready', ['events database: refused']],
      ['young', 'ready', []],
      ['edge', 'ready', []],
    ]);
    expect(missing_services).toEqual(['streamer-monitor', 'platform-connector']);
  });

  it('shows that an instance is silent after three missing reports, and forgets it after a minute', () => {
    const { sut, learn, clock, statuses } = setup();
    learn();
    clock.now += 15_000;
    expect(statuses()).toEqual(['ready']);
    clock.now += 1;
    expect(statuses()).toEqual(['silent']);
    expect(toSystemRecord(sut.read(), null)).toMatchObject({
      missing_services: expect.arrayContaining(['events']),
      database_bytes: null,
    });
    clock.now += 45_000;
    expect(statuses()).toEqual([]);
  });

  it('lists the gateways, without silent ones and those that left', () => {
    const { sut, learn, clock } = setup();
    for (const id of ['silent', 'left', 'open']) learn({ id, service: 'gateway' });
    learn();
    learn({ id: 'left', service: 'gateway', isLeaving: true });
    clock.now += 15_001;
    learn({ id: 'open', service: 'gateway' });

    expect(sut.gatewayIds).toEqual(['open']);
  });

  it('removes an instance that leaves', () => {
    const { learn, statuses } = setup();
    learn();
    learn({ isLeaving: true });

    expect(statuses()).toEqual([]);
  });

  it.each([
    ['text that is not JSON', '{'],
    ['an unknown service', JSON.stringify({ ...report, service: 'other' })],
    ['a report without measures', JSON.stringify({ ...report, measures: null })],
    [
      'connections that are not a list',
      JSON.stringify({ ...report, live: { count: 1, open: 1, closed: [] } }),
    ],
  ])('ignores %s', (_, text) => {
    const { sut, statuses } = setup();
    sut.learn(text);

    expect(statuses()).toEqual([]);
  });

  it('is bounded, whatever arrives', () => {
    const { learn, statuses } = setup();
    for (let index = 0; index < 1_500; index += 1) learn({ id: `i${index}` });

    expect(statuses()).toHaveLength(1_000);
  });

  it('shows the connections of all gateways together, those that are furthest behind first, and counts all', () => {
    const { sut, learn } = setup();
    for (const [id, lag] of [
      ['g1', 3],
      ['g2', 9],
    ] as const)
      learn({
        id,
        service: 'gateway',
        live: {
          count: 10_000,
          open: Array.from({ length: 150 }, (_, index) => ({
            ...connection,
            id: `${id}-${index}`,
            state: 'catching_up' as const,
            lagEvents: index === 0 ? lag : 0,
            unreadBytes: 0,
            takesControls: false,
          })),
          closed: [{ ...connection, id: `${id}-closed`, closedAt: lag * 1_000, code: 1000, reason: 'left' }],
        },
      });

    const system = toSystemRecord(sut.read(), null);
    expect(system.live_connections_count).toBe(20_000);
    expect(system.live_connections).toHaveLength(200);
    expect(system.live_connections.slice(0, 2).map(({ id, instance_id }) => [id, instance_id])).toEqual([
      ['g2-0', 'g2'],
      ['g1-0', 'g1'],
    ]);
    expect(system.closed_connections.map(({ id }) => id)).toEqual(['g2-closed', 'g1-closed']);
  });
});
