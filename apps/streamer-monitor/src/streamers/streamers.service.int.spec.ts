import { setTimeout as wait } from 'node:timers/promises';
import type { INestMicroservice } from '@nestjs/common';
import {
  createStreamer,
  deleteStreamer,
  eraseStreamer,
  getLatestStream,
  getStreamer,
  listMonitored,
  listStreamers,
  lookUpUsers,
  ServiceError,
  updateStreamer,
  type CreateStreamerRequest,
} from '@stream-events/contracts';
import { createLogger } from '@stream-events/service';
import { eventually, type TestNats } from '@stream-events/testing';
import { v7 as uuidV7 } from 'uuid';
import { Caller, startMonitor, startMonitorNats, type MonitorInstance } from '../../test/monitor-process.js';
import { MonitorStore } from '../../test/monitor-store.js';
import { online } from '../../test/facts.js';
import { StandInPlatform, startStandInConnector } from '../../test/stand-in-services.js';
import { StreamMaintenance } from '../streams/stream-maintenance.service.js';
import { Streamer } from './streamer.entity.js';
import { maxStreamersPage, StreamersService } from './streamers.service.js';

let store: MonitorStore;
let nats: TestNats;
let platform: StandInPlatform;
let connector: INestMicroservice;
let monitor: MonitorInstance;
let caller: Caller;

beforeAll(async () => {
  [store, nats] = await Promise.all([MonitorStore.create(), startMonitorNats()]);
  platform = new StandInPlatform();
  connector = await startStandInConnector(nats, platform);
  monitor = await startMonitor(store.database, nats);
  caller = await Caller.connect(nats);
});
afterAll(async () => {
  await caller.close();
  await monitor.close();
  await connector.close();
  await Promise.all([store.close(), nats.stop()]);
});
beforeEach(async () => {
  await store.clear();
  platform.users = [{ id: '4711', login: 'mira', displayName: 'Mira' }];
  platform.streams = [];
  platform.isAway = false;
  platform.gate = Promise.resolve();
});

const mira: CreateStreamerRequest = { platformUsername: 'MiRa', streaming: false, disabled: false };

async function failureOf(request: Promise<unknown>): Promise<ServiceError> {
  const error = await request.then(
    () => new Error('it succeeded'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ServiceError)) throw error;
  return error;
}

async function countStreamers(): Promise<number> {
  return (await caller.ask(listStreamers, {})).streamers.length;
}

describe(StreamersService.name, () => {
  describe('create', () => {
    it('monitors a user under the given spelling with the platform’s id, and hints at subscriptions', async () => {
      const hints = platform.hints;
      const created = await caller.ask(createStreamer, mira);

      expect(created).toMatchObject({
        platformUsername: 'MiRa',
        platformId: '4711',
        streaming: false,
        disabled: false,
      });
      expect(await caller.ask(getStreamer, { id: created.id })).toMatchObject({ id: created.id });
      expect(platform.userLookUps.at(-1)).toMatchObject({ logins: ['mira'], priority: 'interactive' });
      await eventually(() => expect(platform.hints).toBe(hints + 1));
    });

    it('uses the caller’s value of streaming until the platform has reported one', async () => {
      platform.isAway = true;
      const streamer = await store.addStreamer({ streaming: true });
      expect((await caller.ask(getStreamer, { id: streamer.id })).streaming).toBe(true);
      platform.isAway = false;

      await eventually(async () =>
        expect((await caller.ask(getStreamer, { id: streamer.id })).streaming).toBe(false),
      );
      await caller.ask(updateStreamer, { id: streamer.id, streaming: true });
      expect((await caller.ask(getStreamer, { id: streamer.id })).streaming).toBe(false);
    });

    it('rejects a name that the platform does not know, with an error on the field', async () => {
      const error = await failureOf(caller.ask(createStreamer, { ...mira, platformUsername: 'nobody_1' }));

      expect(error).toMatchObject({ code: 'invalid', errors: { platform_username: [expect.stringContaining('nobody_1')] } }); // prettier-ignore
      expect(await countStreamers()).toBe(0);
    });

    it('rejects a user who is already monitored under any name', async () => {
      await caller.ask(createStreamer, mira);
      expect(await failureOf(caller.ask(createStreamer, { ...mira, platformUsername: 'MIRA' }))).toMatchObject({ code: 'conflict' }); // prettier-ignore
      platform.users = [{ id: '4711', login: 'mira_new', displayName: 'Mira' }];

      expect(await failureOf(caller.ask(createStreamer, { ...mira, platformUsername: 'mira_new' }))).toMatchObject({ code: 'conflict' }); // prettier-ignore
      expect(await countStreamers()).toBe(1);
    });

    it('creates a streamer once when several requests arrive at the same time', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, () => caller.ask(createStreamer, mira)),
      );

      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refused.map(({ reason }) => (reason as ServiceError).code)).toEqual(Array(7).fill('conflict'));
      expect(await countStreamers()).toBe(1);
    });

    it('fails with unavailable while the platform is unavailable, and stores nothing', async () => {
      platform.isAway = true;

      expect(await failureOf(caller.ask(createStreamer, mira))).toMatchObject({ code: 'unavailable' });
      expect(await countStreamers()).toBe(0);
    });

    it('fails with unavailable within 5 s when the platform is too slow, and stores nothing even when it replies later', async () => {
      let open = (): void => undefined;
      platform.gate = new Promise((resolve) => (open = resolve));

      const error = await failureOf(caller.ask(createStreamer, mira));
      open();

      expect(error).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('did not reply in time') }); // prettier-ignore
      expect(lookUpUsers.timeoutMs).toBeLessThan(createStreamer.timeoutMs);
      expect(createStreamer.timeoutMs).toBeLessThan(5_000);
      // If the first request had stored the streamer, this one would fail with a conflict.
      await caller.ask(createStreamer, { ...mira, platformUsername: 'mira' });
      expect(await countStreamers()).toBe(1);
    });

    it('stores nothing when the platform has replied but the database is too slow', async () => {
      const blocker = store.dataSource.createQueryRunner();
      await blocker.startTransaction();
      await blocker.query('LOCK TABLE streamers IN ACCESS EXCLUSIVE MODE');

      const error = await failureOf(caller.ask(createStreamer, mira));
      await blocker.commitTransaction();
      await blocker.release();

      expect(error).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('database') });
      expect(await countStreamers()).toBe(0);
    });
  });

  describe('update', () => {
    it('changes spelling, disabled, and streaming without calling the platform', async () => {
      const { id } = await caller.ask(createStreamer, mira);
      const asked = platform.userLookUps.length;
      platform.isAway = true;

      const updated = await caller.ask(updateStreamer, {
        id,
        platformUsername: 'MIRA',
        disabled: true,
        streaming: true,
      });

      expect(updated).toMatchObject({ platformUsername: 'MIRA', disabled: true, streaming: true });
      expect(platform.userLookUps).toHaveLength(asked);
    });

    it('accepts another name only for the same user', async () => {
      const { id } = await caller.ask(createStreamer, mira);
      platform.users = [
        { id: '4711', login: 'mira_new', displayName: 'Mira' },
        { id: '4712', login: 'tom', displayName: 'Tom' },
      ];

      expect(await caller.ask(updateStreamer, { id, platformUsername: 'Mira_New' })).toMatchObject({ platformUsername: 'Mira_New', platformId: '4711' }); // prettier-ignore
      for (const platformUsername of ['tom', 'nobody_1']) {
        const error = await failureOf(caller.ask(updateStreamer, { id, platformUsername }));
        expect(error).toMatchObject({ code: 'invalid', errors: { platform_username: [expect.any(String)] } });
      }
      platform.isAway = true;
      expect(await failureOf(caller.ask(updateStreamer, { id, platformUsername: 'tom' }))).toMatchObject({ code: 'unavailable' }); // prettier-ignore
    });

    it('ends the running stream when the streamer is disabled, and polls again when it is enabled', async () => {
      const streamer = await store.addStreamer();
      await store.recorder.recordEvent(online(streamer, 's1', 0));
      const hints = platform.hints;

      const disabled = await caller.ask(updateStreamer, { id: streamer.id, disabled: true });
      expect(disabled).toMatchObject({ disabled: true, streaming: false });
      const ended = await caller.ask(getLatestStream, { id: streamer.id });
      expect(ended.endedAt).toBeGreaterThan(Date.now() - 60_000);
      expect(await store.recorder.recordEvent(online(streamer, 's2', 1_000))).toBe(false);
      expect((await caller.ask(listMonitored, {})).platformIds).toEqual([]);

      platform.streams = [
        { ...listedStream, userId: streamer.platformId, userLogin: streamer.platformUsername },
      ];
      await caller.ask(updateStreamer, { id: streamer.id, disabled: false });
      await eventually(async () =>
        expect(await caller.ask(getLatestStream, { id: streamer.id })).toMatchObject({
          streamId: 's1',
          endedAt: null,
        }),
      );
      expect((await caller.ask(getStreamer, { id: streamer.id })).streaming).toBe(true);
      await eventually(() => expect(platform.hints).toBe(hints + 2));
    });

    it('fails with not_found for an unknown streamer', async () => {
      const id = uuidV7();
      const failures = await Promise.all([
        failureOf(caller.ask(getStreamer, { id })),
        failureOf(caller.ask(updateStreamer, { id, disabled: true })),
        failureOf(caller.ask(deleteStreamer, { id })),
      ]);
      expect(failures.map(({ code }) => code)).toEqual(['not_found', 'not_found', 'not_found']);
    });
  });

  describe('delete', () => {
    it('deletes a streamer with a long history without waiting for the samples, and the samples afterwards', async () => {
      const streamer = await store.addStreamer();
      await store.dataSource.query(
        `INSERT INTO streams SELECT gen_random_uuid(), $1, 's' || n, '1', '', '', '', '', 'live', '', 0,
           to_timestamp(n * 1000), to_timestamp(n * 1000 + 500), '', '', NULL, false, NULL, NULL, NULL, NULL, false
         FROM generate_series(1, 5000) AS n`,
        [streamer.id],
      );
      await store.dataSource.query(
        `INSERT INTO stream_samples SELECT id, now() - n * interval '1 minute', 1, '', '', ''
         FROM streams, generate_series(1, 5) AS n`,
      );

      // Deleting the samples right away would wait for this lock until the request fails; reading them works.
      const blocker = store.dataSource.createQueryRunner();
      await blocker.startTransaction();
      await blocker.query('LOCK TABLE stream_samples IN SHARE MODE');
      try {
        await caller.ask(deleteStreamer, { id: streamer.id });
      } finally {
        await blocker.rollbackTransaction();
        await blocker.release();
      }

      expect(await failureOf(caller.ask(getStreamer, { id: streamer.id }))).toMatchObject({
        code: 'not_found',
      });
      expect(await store.count('streams')).toBe(0);
      await eventually(async () => expect(await store.count('removed_streams')).toBe(0), {
        timeoutMs: 60_000,
      });
      expect(await store.count('stream_samples')).toBe(0);
    });

    it('deletes samples whose times are ahead of the database’s clock', async () => {
      const { id } = await caller.ask(createStreamer, mira);
      const streamer = await store.dataSource.manager.findOneByOrFail(Streamer, { id });
      await store.recorder.recordEvent(online(streamer, 's1', 0));
      const [stream] = await store.streamsOf(streamer);
      await store.dataSource.query(
        `INSERT INTO stream_samples (stream, at, viewer_count, title, game_id, game_name)
         VALUES ($1, now() + interval '1 hour', 1, '', '', '')`,
        [stream?.id],
      );

      await caller.ask(deleteStreamer, { id });
      await new StreamMaintenance(store.dataSource, createLogger('test', 'silent')).run();

      expect(await store.count('stream_samples')).toBe(0);
    });

    it('deletes nothing when the database takes longer than the caller waits', async () => {
      const { id } = await caller.ask(createStreamer, mira);
      await store.dataSource.transaction(async (other) => {
        await other.query('SELECT FROM streamers WHERE id = $1 FOR UPDATE', [id]);

        // Without the service's own limit, the database would end the statement only after 10 s.
        const late = wait(9_000, 'late', { ref: false });
        const failure = failureOf(caller.ask(deleteStreamer, { id })).then(({ code }) => code);
        expect(await Promise.race([failure, late])).toBe('unavailable');
      });

      // If the deletion were still waiting for the lock, this query would wait for it.
      const kept = await store.dataSource.query<unknown[]>('SELECT FROM streamers WHERE id = $1 FOR UPDATE', [
        id,
      ]);
      expect(kept).toHaveLength(1);
    });

    it('has the connector delete the chosen event types', async () => {
      const { id, platformId } = await store.addStreamer();
      await caller.ask(deleteStreamer, { id });
      await eventually(() =>
        expect(platform.eventTypeChoices).toContainEqual({ userId: platformId, types: null }),
      );
    });
  });

  describe('erase', () => {
    const erase = (platformUserId: string, isDryRun = false) =>
      caller.ask(eraseStreamer, { platformUserId, isDryRun });

    it('deletes nothing until the connector has deleted the chosen event types', async () => {
      const { platformId } = await store.addStreamer();
      platform.isAway = true;

      expect((await failureOf(erase(platformId))).code).toBe('unavailable');

      platform.isAway = false;
      expect(await erase(platformId)).toMatchObject({ streamers: 1 });
      expect(await erase(platformId)).toMatchObject({ streamers: 0 });
    });

    it('has the connector delete the choice of a user who is not monitored, except in a dry run', async () => {
      await erase('4712', true);
      await erase('4713');

      const choices = platform.eventTypeChoices.filter(({ userId }) => ['4712', '4713'].includes(userId));
      expect(choices).toEqual([{ userId: '4713', types: null }]);
    });
  });

  describe('list', () => {
    it('lists all streamers, oldest first, in pages, and the ids of the monitored ones', async () => {
      await store.dataSource.query(
        `INSERT INTO streamers SELECT (lpad(to_hex(n), 12, '0') || '7000' || '8000000000000000')::uuid, 'u' || n, n::text, now(), false, true, n % 2 = 0, now(),
           now(), NULL, NULL, now() + interval '1 hour', now() + interval '1 hour' FROM generate_series(1, $1) AS n`,
        [maxStreamersPage + 1],
      );

      const first = await caller.ask(listStreamers, {});
      const second = await caller.ask(listStreamers, { after: first.next! });

      expect([...first.streamers, ...second.streamers].map(({ platformId }) => Number(platformId))).toEqual(
        Array.from({ length: maxStreamersPage + 1 }, (_, index) => index + 1),
      );
      expect(second).toMatchObject({ next: null, streamers: [{ platformId: String(maxStreamersPage + 1) }] });
      const asConnector = await Caller.connect(nats, 'platform-connector');
      const { platformIds, next } = await asConnector.ask(listMonitored, {});
      await asConnector.close();
      expect(platformIds.slice(0, 3)).toEqual(['1', '3', '5']);
      expect(next).toBeNull();
    });
  });
});

const listedStream = {
  id: 's1',
  userId: '',
  userLogin: '',
  userName: '',
  gameId: '',
  gameName: '',
  type: 'live',
  title: '',
  viewerCount: 1,
  startedAt: Date.UTC(2026, 0, 1),
  language: 'en',
  thumbnailUrl: '',
  tagIds: null,
  isMature: false,
};
