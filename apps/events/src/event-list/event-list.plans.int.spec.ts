import { firstIdAt, type EventFilters, type ReadLimits } from '@stream-events/contracts';
import { jest } from '@jest/globals';
import type { Pool } from 'pg';
import { EventStore } from '../../test/event-store.js';
import { explain, nodesOf, planOf, rowsRead, type ExplainedRow, type PlanNode } from '../../test/explain.js';

// The planner relies on table statistics, so the tests need realistic data: 51,000 events in three months, with 3,000 users and a few types
// and rewards.
const months = [Date.UTC(2025, 0, 5), Date.UTC(2025, 1, 5), Date.UTC(2025, 2, 5)];
const eventsPerMonth = 17_000;

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
  for (const month of months) {
    await store.generate(eventsPerMonth, month, {
      event_id: "CASE WHEN n % 2 = 0 THEN 'message-' || n END",
      event_type:
        "(ARRAY['channel-follow', 'channel-cheer', 'channel-chat-message', 'channel-raid'])[1 + n % 4]",
      event_source: "CASE n % 10 WHEN 0 THEN 'TestCall' ELSE 'PlatformSub' END",
      origin: "CASE n % 10 WHEN 0 THEN 'test' ELSE 'platform' END",
      // The channel `gone` is common in the first half of each month and absent from the second half.
      broadcaster_user_id: `CASE WHEN n % 501 = 3 THEN 'rare' WHEN n % 5 = 0 AND n < ${eventsPerMonth / 2} THEN 'gone' ELSE (n % 20)::text END`,
      user_id: '(n * 7919) % 3000',
      user_name: "'user_' || (n * 7919) % 3000",
      reward_id: "CASE n % 50 WHEN 0 THEN 'reward-' || n % 7 END",
      raid_from: "CASE n % 4 WHEN 3 THEN 'from_' || n % 900 END",
      raid_to: "CASE n % 4 WHEN 3 THEN 'to_' || n % 900 END",
    });
  }
  await store.dataSource.query('ANALYZE events');
  await store.statistics.refresh();
}, 300_000);
afterAll(() => store.close());

interface NotedStatement {
  text: string;
  values: unknown[];
}

/** Returns the statements that run on the pool during `work`. */
async function note(pool: Pick<Pool, 'query'>, work: () => Promise<unknown>): Promise<NotedStatement[]> {
  const query = jest.spyOn(pool, 'query');
  try {
    await work();
    const calls = query.mock.calls as unknown as [string | NotedStatement, unknown[]?][]; // Safe cast: the event list passes these.
    return calls.map(([statement, values = []]) =>
      typeof statement === 'string' ? { text: statement, values } : statement,
    );
  } finally {
    query.mockRestore();
  }
}

function literal(value: unknown): string {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return literal(`{${value.map((item) => JSON.stringify(item)).join(',')}}`);
  return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
}

/** Returns the generic plans that the service uses, with actual row counts. */
async function explainOnListPool(work: () => Promise<unknown>): Promise<PlanNode[]> {
  const statements = await note(store.listPool, work);
  const plans: PlanNode[] = [];
  const client = await store.listPool.connect();
  for (const { text, values } of statements.filter((statement) => statement.text.includes('measured'))) {
    await client.query(`PREPARE explained AS ${text}`);
    const { rows } = await client.query<ExplainedRow>(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE explained (${values.map(literal).join(', ')})`,
    );
    await client.query('DEALLOCATE explained');
    const plan = planOf(rows);
    if (plan) plans.push(plan);
  }
  client.release();
  expect(plans.length).toBeGreaterThan(0);
  return plans;
}

/** Returns the plans of the statements that find a single event. */
async function explainFind(id: string, limits: ReadLimits = {}): Promise<PlanNode[]> {
  const statements = await note(store.dataSource as unknown as Pool, () => store.list.find(id, limits)); // Safe cast: both have the method `query`.
  return Promise.all(statements.map(({ text, values }) => explain(store.dataSource, text, values)));
}

/** Returns the plans of a page. Checks that the page has events. */
function explainPage(filters: EventFilters, isDeep: boolean, limits: ReadLimits = {}): Promise<PlanNode[]> {
  return explainOnListPool(async () => {
    // Position the cursor in the middle of the second month's events.
    const position = {
      direction: 'older',
      id: firstIdAt((months[1] ?? 0) + 8_000),
      inclusive: false,
    } as const;
    const page = await store.list.list({ filters, limits, pageSize: 50, ...(isDeep && { position }) });
    expect(page.events.length).toBeGreaterThan(0);
  });
}

const alone: EventFilters[] = [
  { eventType: 'channel-raid' },
  { userId: '2001' },
  { userName: 'USER_2001' },
  { rewardId: 'Reward-1' },
  { raidFrom: 'From_3' },
  { raidTo: 'TO_3' },
  { broadcasterUserId: '7' },
  { broadcasterUserId: 'gone' },
  { origin: 'test' },
  { eventSource: 'TestCall' },
  { eventId: 'message-400' },
  { eventTypes: ['channel-raid', 'channel-cheer'] },
  { channelId: '7' },
];
const pairs: EventFilters[] = [
  { eventType: 'channel-follow', userId: '2000' },
  { eventType: 'channel-follow', userName: 'user_2000' },
  { eventType: 'channel-follow', broadcasterUserId: '8' },
  { eventTypes: ['channel-follow', 'channel-cheer'], broadcasterUserId: '8' },
  { eventTypes: ['channel-follow', 'channel-raid'], channelId: '8' },
];
const cases = [{}, ...alone, ...pairs].flatMap((filters) => [
  { filters, isDeep: false },
  { filters, isDeep: true },
]);

const listOf = (prefix: string, count: number, first = 0): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${first + n}`);
const commonTypes = ['channel-follow', 'channel-cheer', 'channel-chat-message', 'channel-raid'];
const allTypes = [...commonTypes, ...listOf('type-', 96)];
// `most` limits both the rows that one plan node reads and its lookups.
const limited: { limits: ReadLimits; filters?: EventFilters; most: number }[] = [
  // Nearly all rows are within the limits, so the plan reads in order.
  {
    limits: { eventTypes: allTypes, channelIds: [...listOf('', 20), 'gone', ...listOf('x', 79)] },
    most: 300,
  },
  // Every twentieth row is within the limits.
  { limits: { channelIds: ['7', ...listOf('x', 99)] }, most: 2_000 },
  { limits: { eventTypes: allTypes }, most: 300 },
  // The channels are rare, and so few that the plan looks up each in the three columns, for two types of raids.
  { limits: { channelIds: ['rare', ...listOf('x', 19)] }, most: 300 },
  { limits: { eventTypes: commonTypes, channelIds: ['rare', ...listOf('x', 4)] }, most: 300 },
  { limits: { eventTypes: allTypes, channelIds: listOf('', 20) }, filters: { userId: '2001' }, most: 300 },
  { limits: { eventTypes: allTypes, channelIds: listOf('', 20) }, filters: { channelId: '7' }, most: 300 },
];

// A page has 51 rows. The bounds, the window functions, and the search for the first row read a few more.
const mostRows = 300;

describe('the plan of a page', () => {
  it.each(cases)('reads only a small part of the table, in order: %j', async ({ filters, isDeep }) => {
    for (const plan of await explainPage(filters, isDeep)) {
      const nodes = nodesOf(plan);
      const read = nodes.filter((node) => node['Node Type'].endsWith('Scan')).map(rowsRead);
      const sorted = nodes.filter((node) => node['Node Type'].endsWith('Sort')).map(rowsRead);
      // A full scan of next month's empty partition costs nothing.
      const fromEndToEnd = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && rowsRead(node) > 0);

      expect(fromEndToEnd).toEqual([]);
      expect(Math.max(...read)).toBeLessThan(mostRows);
      expect(Math.max(...sorted, 0)).toBeLessThan(mostRows);
    }
  });

  it.each(
    limited.flatMap((one) => [
      { ...one, isDeep: false },
      { ...one, isDeep: true },
    ]),
  )(
    'reads only a small part of the table, with few lookups, for a reader with limits: %j',
    async ({ limits, filters = {}, most, isDeep }) => {
      for (const plan of await explainPage(filters, isDeep, limits)) {
        const scans = nodesOf(plan).filter((node) => node['Relation Name'] !== undefined);

        expect(scans.filter((node) => node['Node Type'] === 'Seq Scan' && rowsRead(node) > 0)).toEqual([]);
        expect(Math.max(...scans.map(rowsRead))).toBeLessThan(most);
        expect(Math.max(...scans.map((node) => node['Actual Loops']))).toBeLessThan(most);
      }
    },
  );

  it.each([
    ...['01949000-0000-7000-8000-000000000000', 'message-400', 'no such message'].map((id) => ({ id })),
    ...['01949000-0000-7000-8000-000000000000', 'message-400'].map((id) => ({
      id,
      limits: { eventTypes: allTypes, channelIds: listOf('', 100) },
    })),
  ])(
    'finds an event by its id or its event_id using only indexes: %j',
    async ({ id, limits }: { id: string; limits?: ReadLimits }) => {
      for (const plan of await explainFind(id, limits)) {
        const nodes = nodesOf(plan);

        expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan' && rowsRead(node) > 0)).toEqual([]);
        // At most one row in each of the three months.
        expect(Math.max(...nodes.map(rowsRead))).toBeLessThanOrEqual(3);
      }
    },
  );
});
