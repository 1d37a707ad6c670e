import { firstIdAt } from '@stream-events/contracts';
import { streamSummaryRules } from '@stream-events/platforms';
import { EventStore } from '../../test/event-store.js';
import { explain, nodesOf, rowsRead, type PlanNode } from '../../test/explain.js';
import { countTypes, limitParameters, sumRaids, sumRules } from './summary-statements.js';

// Three months with 20 channels. The stream takes a short part of the second month.
const months = [Date.UTC(2025, 0, 5), Date.UTC(2025, 1, 5), Date.UTC(2025, 2, 5)];
const eventsPerMonth = 10_000;
const from = months[1]! + 5_000;
const to = from + 1_000;
// Every fourth event is a raid and therefore concerns two channels.
const eventsOfStream = ((to - from) / 20) * 1.25;

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
  for (const month of months)
    await store.generate(eventsPerMonth, month, {
      event_type:
        "(ARRAY['channel-chat-message', 'channel-cheer', 'channel-follow', 'channel-raid'])[1 + n % 4]",
      broadcaster_user_id: 'CASE WHEN n % 4 < 3 THEN (n / 4 % 20)::text END',
      raid_from_id: 'CASE n % 4 WHEN 3 THEN (n / 4 % 20)::text END',
      raid_to_id: 'CASE n % 4 WHEN 3 THEN ((n + 1) / 4 % 20)::text END',
      user_id: '(n % 3000)::text',
    });
  await store.dataSource.query('ANALYZE events');
}, 240_000);
afterAll(() => store.close());

/** Returns the table scans that read at least one row. */
async function scansOf(sql: string, values: readonly unknown[]): Promise<PlanNode[]> {
  const nodes = nodesOf(await explain(store.dataSource, sql, values));
  return nodes.filter((node) => node['Relation Name'] !== undefined && rowsRead(node) > 0);
}

const gap = 200; // pretends that receipt is at most 0.2 s from the time of an event
const values = [
  ...['7', firstIdAt(from - gap), firstIdAt(to + gap), firstIdAt(from), firstIdAt(to + 1)],
  ...[new Date(from), new Date(to)],
  ...limitParameters({}),
];
const february = [firstIdAt(Date.UTC(2025, 1)), firstIdAt(Date.UTC(2025, 2))];

describe('the plans of a summary', () => {
  it.each([
    ['counting types', countTypes, [...values, ...february]],
    ['adding up rules', sumRules(streamSummaryRules.rules), values],
    ['adding up raids', sumRaids(streamSummaryRules.raids), values],
  ])('read only the events of the stream, in its partition: %s', async (_, sql, parameters) => {
    const scans = await scansOf(sql, parameters);

    expect(scans.length).toBeGreaterThan(0);
    expect(new Set(scans.map((node) => node['Relation Name']))).toEqual(new Set(['events_2025_02']));
    expect(scans.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
    const read = scans.reduce((sum, node) => sum + rowsRead(node), 0);
    // The ids in the range, plus one row per type of the channel.
    expect(read).toBeLessThan(eventsOfStream * (1 + (2 * gap) / (to - from)) + 20);
  });
});
