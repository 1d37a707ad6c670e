import { Registry } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectConnector } from '../../test/connect-connector.js';
import { LogRecorder } from '../../test/log-recorder.js';
import { DeliveryGapsRepository } from './delivery-gaps.repository.js';
import { DeliveryGaps } from './delivery-gaps.service.js';

describe(DeliveryGaps.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let repository: DeliveryGapsRepository;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 2);
    repository = new DeliveryGapsRepository(dataSource);
  });
  beforeEach(() => dataSource.query('TRUNCATE delivery_gaps'));
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const createGaps = (): DeliveryGaps =>
    new DeliveryGaps(repository, new LogRecorder().logger, new Registry());
  const shard = { transport: 'conduit', source: 'shard 0' } as const;
  const other = { transport: 'conduit', source: 'shard 1' } as const;

  it('records a gap from its beginning to its end, by source', async () => {
    const gaps = createGaps();
    gaps.begin(shard, 1_000, 'network error');
    gaps.begin(other, 2_000, 'network timeout');
    gaps.end(shard, 3_000);
    await gaps.stop();

    expect(await repository.newest(10)).toEqual([
      { ...other, from: 2_000, until: null, lost: null, reason: 'network timeout' },
      { ...shard, from: 1_000, until: 3_000, lost: null, reason: 'network error' },
    ]);
  });

  it('returns when the earliest unsaved gap of a source began', async () => {
    const gaps = createGaps();
    gaps.begin(shard, 2_000, 'network error');
    gaps.begin(shard, 1_000, 'network error');
    expect([gaps.unsavedFrom(shard), gaps.unsavedFrom(other)]).toEqual([1_000, Infinity]);
    await gaps.stop();

    expect(gaps.unsavedFrom(shard)).toBe(Infinity);
  });

  it('ends a gap that another instance has left open', async () => {
    const before = createGaps();
    before.begin(shard, 1_000, 'network error');
    await before.stop();
    const after = createGaps();
    after.end(shard, 5_000);
    after.begin(shard, 6_000, 'network error');
    await after.stop();

    expect(await repository.newest(10)).toMatchObject([
      { from: 6_000, until: null },
      { from: 1_000, until: 5_000 },
    ]);
  });

  it('counts lost messages that follow each other within a minute in one gap', async () => {
    const gaps = createGaps();
    for (const at of [10_000, 12_000, 71_000, 200_000]) gaps.addLost(shard, at, 'no room');
    await gaps.stop();

    expect(await repository.newest(10)).toMatchObject([
      { from: 200_000, until: 200_000, lost: 1 },
      { from: 10_000, until: 71_000, lost: 3 },
    ]);
  });

  it('keeps the newest 1,000', async () => {
    const gaps = createGaps();
    for (let at = 1; at <= 1_000; at += 1) gaps.begin(shard, at * 1_000, 'network error');
    await gaps.stop();
    gaps.begin(shard, 2_000_000, 'network error');
    await gaps.stop();

    const kept = await repository.newest(2_000);
    expect(kept).toHaveLength(1_000);
    expect(kept.at(-1)).toMatchObject({ from: 2_000 });
  });
});
