import { maxReportedBytes, maxReportedClosings, maxReportedConnections } from '@stream-events/contracts';
import type { Caller } from '../../access/caller.js';
import { ConnectionReports, type ReportedConnection } from './connection-reports.js';
import type { LiveFilter } from './live-filter.js';

const caller: Caller = {
  id: 'u1',
  username: 'ada',
  role: 'user',
  token: { id: 't1', name: 'overlay', stamp: 's', limits: {}, kind: 'named', scopes: ['events:live'] },
};

type Progress = ReportedConnection['progress'];

const live: Progress = { state: 'live', lagEvents: 0, unreadBytes: 0 };
const behind = (lagEvents: number): Progress => ({ state: 'catching_up', lagEvents, unreadBytes: 0 });

function connection(progress: Progress, name?: string, filter: LiveFilter = {}): ReportedConnection {
  return { format: 'positioned', progress, request: { filter, keepAlive: false, name } };
}

describe(ConnectionReports.name, () => {
  const setup = () => {
    const clock = { now: 1_000 };
    const sut = new ConnectionReports(() => clock.now);
    const add = (added: ReportedConnection): ReportedConnection => {
      sut.add(added, { caller, address: '203.0.113.7' });
      return added;
    };
    return { sut, add, clock };
  };

  it('describes an open connection: whose it is, and how far it is behind', () => {
    const { sut, add } = setup();
    add(connection({ state: 'catching_up', lagEvents: 7, unreadBytes: 12 }, 'alerts', { userName: 'mira' }));

    expect(sut.read()).toEqual({
      count: 1,
      closed: [],
      open: [
        {
          id: expect.any(String),
          name: 'alerts',
          tokenName: 'overlay',
          username: 'ada',
          address: '203.0.113.7',
          transport: 'websocket',
          openedAt: 1_000,
          state: 'catching_up',
          lagEvents: 7,
          unreadBytes: 12,
          takesControls: false,
          filter: { userName: 'mira' },
        },
      ],
    });
  });

  it('reports the connections that are furthest behind when there are 10,000, and counts all', () => {
    const { sut, add } = setup();
    for (let index = 0; index < 10_000; index += 1)
      add(connection(index % 100 === 50 ? behind(index) : live));
    const { count, open } = sut.read();

    expect(count).toBe(10_000);
    expect(open).toHaveLength(maxReportedConnections);
    expect(open.slice(0, 100).map(({ lagEvents }) => lagEvents)).toEqual(
      Array.from({ length: 100 }, (_, index) => 9_950 - index * 100),
    );
  });

  it('leaves out the filters that do not fit into a report', () => {
    const { sut, add } = setup();
    const long: LiveFilter = { eventType: ['x'.repeat(maxReportedBytes)] };
    add(connection(live, 'long', long));
    add(connection(live, 'short', { userName: 'mira' }));

    expect(sut.read().open.map(({ name, filter }) => [name, filter])).toEqual([
      ['long', undefined],
      ['short', { userName: 'mira' }],
    ]);
  });

  it('fits into a message when the names and filters are as large as possible', () => {
    const { sut, add } = setup();
    const name = '\u0001'.repeat(255);
    const filter: LiveFilter = { eventType: Array.from({ length: 100 }, () => 'x'.repeat(255)) };
    for (let index = 0; index < maxReportedClosings; index += 1)
      sut.close(add(connection(live, name, filter)), { reason: 'left', code: 1000 });
    for (let index = 0; index < maxReportedConnections; index += 1) add(connection(live, name, filter));

    const bytes = Buffer.byteLength(JSON.stringify(sut.read()));

    expect(bytes).toBeGreaterThan(0.8 * maxReportedBytes);
    expect(bytes).toBeLessThan(maxReportedBytes);
  });

  it('remembers how the last connections were closed, newest first', () => {
    const { sut, add, clock } = setup();
    const first = add(connection(live, 'first'));
    const second = add(connection(live, 'second'));
    clock.now = 5_000;
    sut.close(first, { reason: 'too_slow', code: 4408 });
    sut.close(second, { reason: 'left', code: 1006 });

    const { count, closed } = sut.read();
    expect(count).toBe(0);
    expect(closed).toMatchObject([
      { name: 'second', openedAt: 1_000, closedAt: 5_000, reason: 'left', code: 1006 },
      { name: 'first', reason: 'too_slow', code: 4408 },
    ]);
  });

  it('forgets older closings', () => {
    const { sut, add } = setup();
    for (let index = 0; index < maxReportedClosings + 5; index += 1)
      sut.close(add(connection(live, `c${index}`)), { reason: 'left', code: 1000 });

    const names = sut.read().closed.map(({ name }) => name);
    expect([names.length, names[0], names.at(-1)]).toEqual([maxReportedClosings, 'c104', 'c5']);
  });
});
