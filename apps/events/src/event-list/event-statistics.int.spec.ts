import { EventStore } from '../../test/event-store.js';
import { estimateShare, EventStatistics } from './event-statistics.js';

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
});
afterAll(() => store.close());
beforeEach(() => store.clear());

function condition(columns: ('user_id' | 'broadcaster_user_id' | 'reward_id')[], ...values: string[]) {
  return { columns: columns.map((name) => ({ name, field: 'userId' as const })), values };
}

describe(EventStatistics.name, () => {
  it('knows nothing before the first analysis', async () => {
    await store.partitions.ensureAhead(Date.UTC(2025, 0, 5));
    // Keep autovacuum from analyzing the table within a minute.
    await store.dataSource.query('ALTER TABLE events_2025_01 SET (autovacuum_enabled = false)');
    await store.generate(5_000, Date.UTC(2025, 0, 5));
    await store.statistics.refresh();

    expect(estimateShare(store.statistics.current, condition(['user_id'], '1'))).toBeUndefined();
  });

  it('estimates the share of common values, of rare values, and of lists', async () => {
    await store.generate(5_000, Date.UTC(2025, 0, 5));
    await store.generate(10_000, Date.UTC(2025, 1, 5), {
      broadcaster_user_id: "CASE WHEN n % 10 < 6 THEN 'large' WHEN n % 10 < 8 THEN 'small' END",
      user_id: "CASE WHEN n % 4 = 0 THEN 'bot' ELSE 'viewer-' || n % 5000 END",
    });
    await store.dataSource.query('ANALYZE events');

    await store.statistics.refresh();

    const share = (...given: Parameters<typeof condition>) =>
      estimateShare(store.statistics.current, condition(...given));
    // A third of the events have neither a channel nor a user: the 5,000 of January.
    expect(share(['broadcaster_user_id'], 'large')).toBeCloseTo(0.4, 1);
    expect(share(['broadcaster_user_id'], 'small', 'large')).toBeCloseTo(0.53, 1);
    expect(share(['user_id'], 'bot')).toBeCloseTo(0.17, 1);
    expect(share(['user_id'], 'viewer-17')).toBeLessThan(0.001);
    expect(share(['reward_id'], 'none')).toBeLessThan(0.001);
    expect(share(['user_id', 'broadcaster_user_id'], 'large')).toBeCloseTo(0.4, 1);
  });
});
