import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { ErasureStage, NewEvent } from '@stream-events/contracts';
import { createLogger } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { wrapUnreadable } from '../dead-letters/unreadable-message.js';
import { SavedSummaries } from '../stream-summaries/saved-summaries.repository.js';
import type { StreamSummaries } from '../stream-summaries/stream-summaries.service.js';
import { AnnouncingStage } from './announcing.stage.js';
import { DeadLettersStage } from './dead-letters.stage.js';
import { ErasureRunner } from './erasure-runner.service.js';
import type { Stage } from './erasure-step.js';
import type { Erasure } from './erasure.entity.js';
import { ErasuresRepository, LeaseLostError } from './erasures.repository.js';
import { StoreStage } from './store.stage.js';
import { SummariesStage } from './summaries.stage.js';

// Some tests run two erasures, and each erasure has eight stages.
const erasureLimitMs = 60_000;
jest.setTimeout(3 * erasureLimitMs);

const user = '12826';
const logger = createLogger('test', 'silent');

/** Returns a stage that has nothing to do. */
function emptyStage(name: Stage['name']): Stage {
  return { name, run: () => Promise.resolve({ isComplete: true }) };
}

describe('an erasure', () => {
  let store: EventStore;
  let erasures: ErasuresRepository;
  const runners: ErasureRunner[] = [];

  beforeAll(async () => {
    store = await EventStore.create();
    erasures = new ErasuresRepository(store.dataSource);
    await store.partitions.ensureAhead(Date.now());
  });

  afterEach(async () => {
    await Promise.all(runners.splice(0).map((runner) => runner.stop()));
    await store.clear();
    await store.erasedUsers.refresh();
  });

  afterAll(() => store.close());

  /** Starts another instance. The stages that wait or need NATS are empty, unless the test replaces them. */
  function start(replaced: readonly Stage[] = []): ErasureRunner {
    const stages = new Map<ErasureStage, Stage>();
    const empty = [
      'announcing',
      'ingest',
      'streamers',
      'connector',
      'gateway',
      'event_stream',
      'caches',
    ] as const;
    for (const name of empty) stages.set(name, emptyStage(name));
    const saved = new SavedSummaries(store.dataSource, store.changes);
    const summaries: Pick<StreamSummaries, 'invalidate'> = { invalidate: (ids) => saved.remove(ids) };
    const real = [
      new StoreStage(store.dataSource),
      new SummariesStage(summaries as StreamSummaries), // Safe cast: the stage only calls `invalidate`.
      new DeadLettersStage(store.dataSource),
    ];
    for (const stage of [...real, ...replaced]) stages.set(stage.name, stage);
    const runner = new ErasureRunner(erasures, [...stages.values()], store.hasher, logger);
    runners.push(runner);
    runner.start();
    return runner;
  }

  const request = (isDryRun = false): Promise<Erasure> =>
    erasures.create({ platformUserId: user, userHash: store.hasher.hash(user) }, isDryRun);

  const untilEnded = (id: string): Promise<Erasure> =>
    eventually(
      async () => {
        const erasure = await erasures.find(id);
        if (erasure?.stage !== 'done') throw new Error(`not done: ${JSON.stringify(erasure)}`);
        return erasure;
      },
      { timeoutMs: erasureLimitMs },
    );

  const erase = async (isDryRun = false): Promise<Erasure> => {
    start();
    const erasure = await untilEnded((await request(isDryRun)).id);
    // In production, the `announcing` stage waits until every instance has refreshed its list. Here that stage is empty, so refresh the
    // list directly.
    await store.erasedUsers.refresh();
    return erasure;
  };

  const naming = (data: unknown): NewEvent => newEvent({ eventData: JSON.stringify(data) });

  /** Returns events that name the user, each with the fields that do so, and events that do not. */
  function examples() {
    const named: [string[], unknown][] = [
      [['user_id'], { user_id: user, broadcaster_user_id: '1' }],
      [['broadcaster_user_id'], { user_id: '1', broadcaster_user_id: user }],
      [['moderator_user_id', 'user_id'], { moderator_user_id: user, user_id: user }],
      [['message.fragments.mention.user_id'], { message: { fragments: [{ mention: { user_id: user } }] } }],
      [['target_user_id'], { target_user_id: Number(user) }],
    ];
    const others: unknown[] = [
      { user_id: '128261', broadcaster_user_id: '1' },
      { user_id: '1', message: `"user_id":"${user}"` },
      { user_login: user, viewers: Number(user) },
      { user_id: 'é\u0001' },
    ];
    return {
      named: named.map(([fields, data]) => ({ fields, event: naming(data) })),
      others: others.map(naming),
    };
  }

  describe('of the store', () => {
    it('removes exactly the events that name the user, and counts them by field', async () => {
      const { named, others } = examples();
      await store.writer.store([...named.map(({ event }) => event), ...others]);
      const erasure = await erase();

      expect(await store.storedIds()).toEqual(others.map(({ id }) => id).sort());
      expect(erasure.counts.events).toEqual({
        total: 5,
        fields: {
          user_id: 2,
          broadcaster_user_id: 1,
          moderator_user_id: 1,
          'message.fragments.mention.user_id': 1,
          target_user_id: 1,
        },
      });
    });

    it('finds ids that are spelled with escapes', async () => {
      const escaped = newEvent({ eventData: String.raw`{"user\u005fid":"\u0031282\u0036"}` });
      await store.writer.store([escaped]);
      await erase();

      expect(await store.storedIds()).toEqual([]);
    });

    it('keeps the deduplication keys', async () => {
      const event = newEvent({ eventId: 'a message', eventData: JSON.stringify({ user_id: user }) });
      await store.writer.store([event]);
      await erase();
      const again = { ...event, id: uuidV7() };

      expect(await store.writer.store([again])).toEqual([{ id: event.id, outcome: 'known' }]);
      expect(await store.count('events')).toBe(0);
    });

    it('keeps no id of the user', async () => {
      const { id } = await erase();
      const rows = await store.dataSource.query<unknown[]>('SELECT * FROM erasures WHERE id = $1', [id]);

      expect(JSON.stringify(rows)).not.toContain(user);
    });

    it('deletes the saved summaries, which may name the user, but not in a dry run', async () => {
      await store.writer.store([naming({ gifter_user_id: user })]);
      await store.dataSource.query(
        `INSERT INTO stream_summaries (stream, channel_id, started_at, ended_at, changes, version, summary)
         VALUES ($1, '1', now(), now(), 0, 1, '{}')`,
        [randomUUID()],
      );
      await erase(true);
      expect(await store.count('stream_summaries')).toBe(1);
      await untilEnded((await request()).id);
      expect(await store.count('stream_summaries')).toBe(0);
    });

    it('only counts in a dry run', async () => {
      const { named, others } = examples();
      await store.writer.store([...named.map(({ event }) => event), ...others]);
      const before = await store.storedIds();
      const dryRun = await erase(true);

      expect(await store.storedIds()).toEqual(before);
      const erasure = await untilEnded((await request()).id);
      expect(dryRun.counts).toEqual(erasure.counts);
    });

    it('searches a table of many pages, whichever pages have the user', async () => {
      const from = Date.now() - 60_000;
      const isNamed = `n % 7 = 0 OR n BETWEEN 4000 AND 6500`;
      const data = `CASE WHEN ${isNamed} THEN '{"gifter_user_id":"${user}"}' ELSE '{"user_id":"2"}' END::json`;
      await store.generate(12_000, from, { event_data: data });
      const [{ expected } = { expected: 0 }] = await store.dataSource.query<{ expected: number }[]>(
        `SELECT count(*)::int AS expected FROM events WHERE event_data ->> 'gifter_user_id' IS NOT NULL`,
      );
      const erasure = await erase();

      expect(erasure.counts.events).toEqual({ total: expected, fields: { gifter_user_id: expected } });
      expect(await store.count('events')).toBe(12_000 - expected);
    });

    it('searches fewer events at a time while the search exceeds its time limit, and then more again', async () => {
      const data = `CASE WHEN n % 100 = 0 THEN '{"user_id":"${user}"}' ELSE '{}' END::json`;
      await store.generate(9_000, Date.now() - 60_000, { event_data: data });
      const searched: number[] = [];
      const query = async (sql: string, values: unknown[]): Promise<unknown> => {
        if (sql.includes('strpos')) {
          const [{ count } = { count: 0 }] = await store.dataSource.query<{ count: number }[]>(
            'SELECT count(*)::int AS count FROM events WHERE id > $1 AND id <= $2',
            values.slice(0, 2),
          );
          searched.push(count);
          // Pretend that the first events are large, so that searching many of them times out.
          if (count > 1_000 && searched.length < 12)
            throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
        }
        return store.dataSource.query(sql, values);
      };
      // Safe cast: the stage only calls `query`.
      start([new StoreStage({ query } as unknown as DataSource, 60_000)]);
      const { id, counts } = await untilEnded((await request()).id);

      expect(searched.slice(0, 6)).toEqual([5_000, 2_500, 1_250, 625, 1_250, 625]);
      expect(Math.max(...searched.slice(12))).toBeGreaterThan(1_250);
      expect(counts.events).toEqual({ total: 90, fields: { user_id: 90 } });
      expect(await erasures.find(id)).toMatchObject({ error: null });
    });
  });

  describe('of dead letters', () => {
    it('removes those that name the user, and keeps their keys', async () => {
      const fault = new Error('rejected');
      const named = newEvent({ eventId: 'dead', eventData: `{"user_id":"${user}", not JSON` });
      const payload = JSON.stringify({
        ...newEvent(),
        eventData: JSON.stringify({ user_id: user }),
        id: 'bad',
      });
      const unreadable = wrapUnreadable(Buffer.from(payload));
      const other = newEvent({ eventData: '{"user_id":"1", not JSON' });
      for (const event of [named, unreadable, other]) await store.writer.keepAsDeadLetter(event, fault);
      const erasure = await erase();

      const left = await store.deadLetters.list({ pageSize: 100 });
      expect(left.messages.map(({ id }) => id)).toEqual([other.id]);
      expect(erasure.counts.dead_letters).toEqual({ total: 2, fields: { user_id: 2 } });
      const redelivered = newEvent({ eventId: 'dead', eventData: JSON.stringify({ user_id: user }) });
      expect(await store.writer.store([redelivered])).toEqual([{ id: named.id, outcome: 'known' }]);
    });
  });

  describe('of messages that arrive late', () => {
    it('stores all but those that name the user and were received before the erasure', async () => {
      const { erasesUntil } = await erase();
      const at = (time: number): NewEvent => ({
        ...newEvent({ eventData: JSON.stringify({ moderator_user_id: user }) }),
        id: uuidV7({ msecs: time }),
      });
      const late = at(erasesUntil.getTime() - 60_000);
      const later = at(erasesUntil.getTime() + 1);
      const others = { ...newEvent(), id: uuidV7({ msecs: erasesUntil.getTime() - 60_000 }) };
      const outcomes = await store.writer.store([late, later, others]);

      expect(outcomes).toEqual([late, later, others].map(({ id }) => ({ id, outcome: 'stored' })));
      expect(await store.storedIds()).toEqual([others.id, later.id].sort());
      expect(await store.writer.store([late])).toEqual([{ id: late.id, outcome: 'stored' }]);
      expect(await store.count('events')).toBe(2);
    });

    it('does not affect a dry run', async () => {
      await erase(true);
      const event = newEvent({ eventData: JSON.stringify({ user_id: user }) });
      await store.writer.store([event]);

      expect(await store.storedIds()).toEqual([event.id]);
    });

    it('waits until every write that may not know about the erasure has ended', async () => {
      const erasure = await request();
      const writing = await store.beginTransaction();
      await writing.query('SELECT 1');
      const stage = new AnnouncingStage(store.dataSource);
      const run = (ageMs: number) => stage.run({ ...erasure, ageMs, stageAgeMs: ageMs });
      expect((await run(1_000)).isComplete).toBe(false);
      // Move the request forward, so that the open transaction started before the announcement ended.
      await store.dataSource.query(`UPDATE erasures SET created_at = created_at + interval '1 hour'`);
      expect((await run(7_000)).isComplete).toBe(false);
      // After another minute, the stage no longer waits, because hardly any write takes that long.
      expect((await run(70_000)).isComplete).toBe(true);
      await writing.rollbackTransaction();
      await writing.release();

      await eventually(async () => expect((await run(7_000)).isComplete).toBe(true));
    });
  });

  describe('that is interrupted', () => {
    /** Runs a few steps of the store stage like an instance that dies afterwards. */
    async function beginAndDie(steps: number): Promise<Erasure> {
      const { id } = await request(true);
      await store.dataSource.query('UPDATE erasures SET is_dry_run = false WHERE id = $1', [id]);
      const holder = randomUUID();
      const stage = new StoreStage(store.dataSource);
      let erasure = await erasures.claim(holder);
      for (let count = 0; count < steps && erasure; count += 1) {
        const step = await stage.run(erasure, { id: user, isUser: (named) => named === user });
        const { position, progress = 0, counts = {}, apply } = step;
        await erasures.advance(erasure, { stage: 'store', position, progress, counts }, apply);
        erasure = await erasures.readHeld(holder);
      }
      if (!erasure) throw new Error('the erasure was taken over');
      return erasure;
    }

    const expireLease = () => store.dataSource.query('UPDATE erasures SET leased_until = now()');

    it.each([1, 2, 5])('after %i pieces of work continues there, and counts nothing twice', async (steps) => {
      await store.generate(11_000, Date.now() - 60_000, {
        event_data: `CASE WHEN n % 10 = 0 THEN '{"user_id":"${user}"}' ELSE '{}' END::json`,
      });
      const { id } = await beginAndDie(steps);
      const left = await store.count('events');
      expect(left).toBeLessThan(11_000);
      expect(left).toBeGreaterThan(9_900);
      await expireLease();
      start();

      expect((await untilEnded(id)).counts.events).toEqual({ total: 1_100, fields: { user_id: 1_100 } });
      expect(await store.count('events')).toBe(9_900);
    });

    it('changes nothing more once another instance has taken it over', async () => {
      await store.writer.store([naming({ user_id: user })]);
      const erasure = await beginAndDie(0);
      const mine = (await erasures.readHeld(erasure.leasedBy ?? ''))!;
      await expireLease();
      expect(await erasures.claim(randomUUID())).toMatchObject({ id: erasure.id });

      const step = await new StoreStage(store.dataSource).run(mine, {
        id: user,
        isUser: (id) => id === user,
      });
      const change = { stage: 'store' as const, position: null, progress: 1, counts: {} };
      await expect(erasures.advance(mine, change, step.apply)).rejects.toThrow(LeaseLostError);
      expect(await store.count('events')).toBe(1);
    });

    it('is run by one instance at a time, the oldest first', async () => {
      const [first, second] = [await request(), await request()];
      const holders = [randomUUID(), randomUUID()];
      expect(await erasures.claim(holders[0] ?? '')).toMatchObject({ id: first.id });
      expect(await erasures.claim(holders[1] ?? '')).toBeUndefined();
      expect(second.id > first.id).toBe(true);
    });

    it('lets the service stop although a read from NATS never ends', async () => {
      const reading = new Promise<void>((resolve) => {
        const run: Stage['run'] = () => {
          resolve();
          return new Promise(() => undefined);
        };
        start([{ name: 'ingest', run }]);
      });
      await request();
      await reading;

      await expect(Promise.all(runners.splice(0).map((runner) => runner.stop()))).resolves.toHaveLength(1);
    });

    it('retries a stage that fails, and shows the reason', async () => {
      let failures = 0;
      let isDown = true;
      start([
        {
          name: 'streamers',
          run: () => {
            if (!isDown) return Promise.resolve({ isComplete: true });
            failures += 1;
            return Promise.reject(new Error('the streamer monitor is down'));
          },
        },
      ]);
      const { id } = await request();
      await eventually(
        async () => {
          expect(failures).toBeGreaterThan(1);
          expect((await erasures.find(id))?.error).toBe('the streamer monitor is down');
        },
        { timeoutMs: erasureLimitMs },
      );
      isDown = false;

      expect(await untilEnded(id)).toMatchObject({ error: null, stage: 'done' });
    });
  });

  it('finds the user by the hash when the id is no longer known', async () => {
    const { named, others } = examples();
    await store.writer.store([...named.map(({ event }) => event), ...others]);
    const { id } = await request();
    await store.dataSource.query('UPDATE erasures SET platform_user_id = NULL');
    start();
    const erasure = await untilEnded(id);

    expect(erasure.counts.events?.total).toBe(5);
    expect(await store.storedIds()).toEqual(others.map((event) => event.id).sort());
  });
});
