import { readEventColumns } from '@stream-events/contracts';
import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { asOldStore } from '../../test/old-store.js';
import { RaidChannelBackfill } from './raid-channel-backfill.service.js';

const january = Date.UTC(2025, 0, 5);
const march = Date.UTC(2025, 2, 5);

/** Raid data with every way of naming channels that the write path knows. */
const data = [
  '{"from_broadcaster_user_id":"1","to_broadcaster_user_id":"2"}',
  '{"from_broadcaster_user_id":"A","to_broadcaster_user_id":"B"}',
  '{"from_broadcaster_user_id":"1"}',
  '{"to_broadcaster_user_id":"first","to_broadcaster_user_id":"last"}',
  '{"from\\u005fbroadcaster_user_id":"escaped","to_broadcaster_user_id":null}',
  '{"from_broadcaster_user_id":12,"to_broadcaster_user_id":["2"]}',
  `{"from_broadcaster_user_id":"${'9'.repeat(255)}","to_broadcaster_user_id":"${'9'.repeat(256)}"}`,
  '{}',
];

let store: EventStore;
afterEach(() => store.close());

interface Row {
  id: string;
  type: string;
  data: string;
  raidFromId: string | null;
  raidToId: string | null;
}

/** Stores events without the raid columns, like an instance of an earlier version. */
async function insert(
  database: DataSource,
  events: { at: number; type?: string; data?: string }[],
): Promise<void> {
  await database.query(
    `INSERT INTO events (id, event_type, event_source, origin, event_data)
     SELECT id, type, 'PlatformSub', 'platform', data::json
     FROM unnest($1::uuid[], $2::text[], $3::text[]) AS input (id, type, data)`,
    [
      events.map(({ at }) => v7({ msecs: at })),
      events.map(({ type }) => type ?? 'channel-raid'),
      events.map((event) => event.data ?? data[0]),
    ],
  );
}

/** Creates a store of an earlier version with these events. */
async function createOldStore(...events: Parameters<typeof insert>[1]): Promise<void> {
  store = await EventStore.create(asOldStore([january, march], (old) => insert(old, events)));
}

function createBackfill(metrics = new Registry()): RaidChannelBackfill {
  return new RaidChannelBackfill(store.dataSource, store.changes, createLogger('test', 'silent'), metrics);
}

function readRows(): Promise<Row[]> {
  return store.dataSource.query(
    `SELECT id, event_type AS type, event_data::text AS data, raid_from_id AS "raidFromId", raid_to_id AS "raidToId"
     FROM events ORDER BY id`,
  );
}

async function countFilled(): Promise<number> {
  return (await readRows()).filter(({ raidFromId }) => raidFromId !== null).length;
}

/** Makes the next batch due at once. */
async function passTime(assignments = 'resume_at = now()'): Promise<void> {
  await store.dataSource.query(`UPDATE backfills SET ${assignments}`);
}

describe(RaidChannelBackfill.name, () => {
  it('fills the columns of stored raids as the write path does, and leaves all other events unchanged', async () => {
    const types = ['channel-raid', 'raid', 'channel-follow'];
    await createOldStore(
      ...types.flatMap((type, place) =>
        data.map((text) => ({ at: place === 1 ? march : january, type, data: text })),
      ),
    );
    const metrics = new Registry();

    expect(await createBackfill(metrics).runBatch()).toBe(false);

    const rows = await readRows();
    expect(rows).toHaveLength(types.length * data.length);
    for (const row of rows) {
      const { raidFromId, raidToId } = readEventColumns(row.type, row.data);
      expect(row).toMatchObject({ raidFromId, raidToId });
    }
    // For each raid type, all texts except the two without usable ids.
    expect(await metrics.metrics()).toContain(`events_raid_channels_filled_total ${2 * (data.length - 2)}`);
  });

  it('continues in another instance where it was stopped', async () => {
    await createOldStore(...Array.from({ length: 450 }, (_, n) => ({ at: january + n })));

    expect(await createBackfill().runBatch()).toBe(true);
    const afterFirst = await countFilled();
    const other = createBackfill();
    expect([await other.runBatch(), await other.runBatch()]).toEqual([true, false]);

    expect(afterFirst).toBe(200);
    expect(await countFilled()).toBe(450);
    expect(await createBackfill().runBatch()).toBe(false);
  });

  it('fills all raids in the background, while two instances run', async () => {
    await createOldStore(...Array.from({ length: 900 }, (_, n) => ({ at: january + n })));
    const pair = [createBackfill(), createBackfill()];

    for (const backfill of pair) backfill.start();

    await eventually(async () => {
      expect(await countFilled()).toBe(900);
    });
    await Promise.all(pair.map((backfill) => backfill.stop()));
  });

  it('makes the saved summaries of the channels outdated', async () => {
    await createOldStore({ at: january });
    const countChanges = (channelId: string) =>
      store.changes.count({ channelId, from: january, to: january });
    expect(await countChanges('1')).toBe(0);

    await createBackfill().runBatch();
    await passTime();
    await createBackfill().runBatch();

    expect(await Promise.all(['1', '2', '3'].map(countChanges))).toEqual([1, 1, 0]);
  });

  it('changes nothing when a batch fails', async () => {
    await createOldStore({ at: january });
    await store.dataSource.query('ALTER TABLE events ADD CONSTRAINT refused CHECK (raid_to_id IS NULL)');

    await expect(createBackfill().runBatch()).rejects.toThrow('refused');
    await store.dataSource.query('ALTER TABLE events DROP CONSTRAINT refused');
    await createBackfill().runBatch();

    expect(await countFilled()).toBe(1);
  });

  it('also fills raids that an old instance stores during the upgrade, with any id', async () => {
    await createOldStore({ at: january });
    await createBackfill().runBatch();
    await insert(store.dataSource, [{ at: january - 1_000 }, { at: march }]);

    await createBackfill().runBatch();
    const beforeItIsDue = await countFilled();
    await passTime();
    await createBackfill().runBatch();

    expect(beforeItIsDue).toBe(1);
    expect(await countFilled()).toBe(3);
  });

  it('ends with the pass that ends a day after the upgrade', async () => {
    await createOldStore({ at: january });
    await passTime(`ends_at = ends_at - interval '1 day'`);

    await createBackfill().runBatch();
    await insert(store.dataSource, [{ at: march }]);
    await createBackfill().runBatch();

    expect(await store.dataSource.query('SELECT FROM backfills')).toEqual([]);
    expect(await countFilled()).toBe(1);
  });

  it('has nothing to do in a fresh store', async () => {
    store = await EventStore.create();
    await store.writer.store([newEvent({ eventType: 'raid', eventData: data[0] ?? '' })]);

    expect(await createBackfill().runBatch()).toBe(false);

    expect(await store.dataSource.query('SELECT FROM backfills')).toEqual([]);
    expect(await countFilled()).toBe(1);
  });
});
