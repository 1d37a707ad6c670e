import { ServiceError } from '@stream-events/contracts';
import { ReplyTimeoutError } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { createTestDatabase, eventually, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { connectGateway } from '../../test/connect-gateway.js';
import type { AuditEntry } from './audit-entry.entity.js';
import { AuditLogRepository, type AuditLogFilter } from './audit-log.repository.js';
import { AuditLog, type AuditedAction } from './audit-log.service.js';

const by = { id: uuidV7(), username: 'ada', address: '192.0.2.1' };
const dayMs = 24 * 3_600_000;

describe('the audit log', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let repository: AuditLogRepository;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectGateway(database, 5);
    repository = new AuditLogRepository(dataSource);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  beforeEach(() => dataSource.query('TRUNCATE audit_log'));

  function setup() {
    const metrics = new Registry();
    const log = new AuditLog(repository, createLogger('test', 'silent'), metrics);
    const countLost = async (): Promise<number> =>
      (await metrics.getSingleMetric('gateway_audit_entries_lost_total')?.get())?.values[0]?.value ?? 0;
    return { log, countLost };
  }

  const action = (fields: Partial<AuditedAction> = {}): AuditedAction => ({
    action: 'scope.deleted',
    by,
    objectId: 'an object',
    ...fields,
  });

  const entryAt = (time: number): AuditEntry => ({
    id: uuidV7({ msecs: time }),
    action: 'token.rotated',
    userId: by.id,
    username: by.username,
    objectId: by.id,
    address: by.address,
    count: 1,
  });

  const listAll = async (): Promise<AuditEntry[]> => (await repository.list({ pageSize: 100 })).entries;

  describe(AuditLog.name, () => {
    it('writes entries in the order of the actions', async () => {
      const { log } = setup();
      for (const objectId of ['first', 'second', 'third']) log.record(action({ objectId }));
      await log.flushed();

      const entries = await listAll();
      expect(entries.map(({ objectId }) => objectId)).toEqual(['third', 'second', 'first']);
      expect(entries[0]).toEqual({
        id: expect.any(String),
        action: 'scope.deleted',
        userId: by.id,
        username: 'ada',
        objectId: 'third',
        address: '192.0.2.1',
        count: 1,
      });
    });

    it('records a request that was or may have been carried out, but not one that was refused', async () => {
      const { log } = setup();
      const toAction = (reply?: { id: string }): AuditedAction => action({ objectId: reply?.id ?? null });
      const late = new ReplyTimeoutError('events.create-erasure', 5_000);
      const uncertain = ServiceError.fromMessage(
        new ServiceError('unavailable', 'The platform did not reply.', { isUncertain: true }).toMessage(),
      );
      const broken = new ServiceError('internal', 'The service failed unexpectedly.');
      const refused = new ServiceError('conflict', 'Too many erasures are waiting.');

      expect(await log.recordReply(Promise.resolve({ id: 'done' }), toAction)).toEqual({ id: 'done' });
      await expect(log.recordReply(Promise.reject(refused), toAction)).rejects.toBe(refused);
      for (const [index, error] of [late, uncertain, broken].entries()) {
        const toUncertain = (): AuditedAction => action({ objectId: `uncertain ${index}` });
        await expect(log.recordReply(Promise.reject(error), toUncertain)).rejects.toBe(error);
      }
      await log.recordReply(Promise.resolve({ id: 'not worth an entry' }), () => undefined);
      await log.flushed();

      expect((await listAll()).map(({ objectId }) => objectId)).toEqual([
        'uncertain 2',
        'uncertain 1',
        'uncertain 0',
        'done',
      ]);
    });

    it('keeps entries while the table is unavailable, and writes them afterwards', async () => {
      const { log, countLost } = setup();
      await dataSource.query('ALTER TABLE audit_log RENAME TO unavailable');
      for (let count = 0; count < 1_200; count += 1) log.record(action({ objectId: String(count) }));
      await dataSource.query('ALTER TABLE unavailable RENAME TO audit_log');
      await log.flushed();

      expect(await dataSource.query('SELECT count(*)::int AS count FROM audit_log')).toEqual([
        { count: 1_200 },
      ]);
      expect(await countLost()).toBe(0);
    });

    it('counts entries beyond 10,000 as lost', async () => {
      const { log, countLost } = setup();
      for (let count = 0; count < 10_003; count += 1) log.record(action({ objectId: String(count) }));
      await log.flushed();

      expect(await countLost()).toBe(3);
      expect(await dataSource.query('SELECT count(*)::int AS count FROM audit_log')).toEqual([
        { count: 10_000 },
      ]);
    });

    it('loses only the entries that the database rejects, not the others of their batch', async () => {
      const { log, countLost } = setup();
      const bad = [0, 40, 41, 99];
      for (let count = 0; count < 100; count += 1)
        log.record(action({ objectId: bad.includes(count) ? `a NUL: \0 ${count}` : String(count) }));
      await log.flushed();

      expect(await countLost()).toBe(bad.length);
      expect((await listAll()).map(({ objectId }) => Number(objectId)).reverse()).toEqual(
        Array.from({ length: 100 }, (_, count) => count).filter((count) => !bad.includes(count)),
      );
    });

    it('counts failed logins beyond 60 a minute in one entry', async () => {
      const { log } = setup();
      for (let count = 0; count < 75; count += 1)
        log.record(action({ action: 'user.login_failed', objectId: String(count) }));
      // Wait here first: the shutdown itself waits only 3 s for entries.
      await log.flushed();
      await log.onApplicationShutdown();

      const entries = await listAll();
      expect(entries).toHaveLength(61);
      expect(entries[0]).toMatchObject({
        count: 15,
        userId: null,
        username: null,
        objectId: null,
        address: null,
      });
      expect(entries.slice(1).every(({ count }) => count === 1)).toBe(true);
    });

    it('writes equal entries of a user as two, the second with their count', async () => {
      const { log } = setup();
      for (let count = 0; count < 400; count += 1) log.record(action({ action: 'token.updated' }));
      log.record(action({ action: 'token.updated', objectId: 'another object' }));
      log.record(action({ action: 'token.updated', by: { ...by, id: uuidV7() } }));
      log.record(action({ action: 'token.updated', by: { ...by, address: '192.0.2.2' } }));
      await log.flushed();
      await log.onApplicationShutdown();

      const [folded, ...others] = await listAll();
      expect(folded).toMatchObject({
        action: 'token.updated',
        userId: by.id,
        objectId: 'an object',
        count: 399,
      });
      expect(others.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
    });

    it('writes every entry without a user', async () => {
      const { log } = setup();
      const nobody = { id: null, username: null, address: '192.0.2.1' };
      for (let count = 0; count < 3; count += 1) log.record(action({ by: nobody }));
      await log.flushed();
      await log.onApplicationShutdown();

      expect((await listAll()).map(({ count }) => count)).toEqual([1, 1, 1]);
    });

    it('writes the waiting entries when the service stops, and counts later ones as lost', async () => {
      const { log, countLost } = setup();
      log.record(action());
      await log.onApplicationShutdown();
      expect(await listAll()).toHaveLength(1);

      log.record(action());
      expect(await countLost()).toBe(1);
    });

    it('shortens an address that a proxy made too long', async () => {
      const { log } = setup();
      log.record(action({ by: { ...by, address: 'x'.repeat(1_000) } }));
      await log.flushed();

      expect((await listAll())[0]?.address).toHaveLength(64);
    });
  });

  describe(AuditLogRepository.name, () => {
    it('adds an entry once when the same batch is added again', async () => {
      const entries = [entryAt(Date.now()), entryAt(Date.now())];
      await repository.add(entries);
      await repository.add(entries);

      expect(await listAll()).toHaveLength(2);
    });

    it('lists every entry once in both directions, also while entries are added', async () => {
      const start = Date.now();
      const entries = Array.from({ length: 25 }, (_, index) => entryAt(start + Math.floor(index / 10)));
      await repository.add(entries);
      const expected = entries
        .map(({ id }) => id)
        .sort()
        .reverse();

      const pages: string[][] = [];
      let page = await repository.list({ pageSize: 10 });
      await repository.add([entryAt(start + 60_000)]);
      pages.push(page.entries.map(({ id }) => id));
      while (page.next) {
        page = await repository.list({ pageSize: 10, position: page.next });
        pages.push(page.entries.map(({ id }) => id));
      }
      expect(pages.flat()).toEqual(expected);
      expect(pages.map(({ length }) => length)).toEqual([10, 10, 5]);

      const back = await repository.list({ pageSize: 10, ...(page.previous && { position: page.previous }) });
      expect(back.entries.map(({ id }) => id)).toEqual(pages[1]);
    });

    it('lists the entries with an action, of a user, or both', async () => {
      const start = Date.now();
      const other = uuidV7();
      const entries = Array.from({ length: 12 }, (_, index) => ({
        ...entryAt(start + index),
        action: index % 2 === 0 ? ('token.created' as const) : ('token.revoked' as const),
        userId: index % 3 === 0 ? other : by.id,
      }));
      await repository.add(entries);
      const indexesOf = async (filter: AuditLogFilter): Promise<number[]> => {
        const { entries: found } = await repository.list({ pageSize: 100 }, filter);
        return found.map(({ id }) => entries.findIndex((entry) => entry.id === id));
      };

      expect(await indexesOf({ action: 'token.created' })).toEqual([10, 8, 6, 4, 2, 0]);
      expect(await indexesOf({ userId: other })).toEqual([9, 6, 3, 0]);
      expect(await indexesOf({ action: 'token.created', userId: other })).toEqual([6, 0]);
      const first = await repository.list({ pageSize: 1 }, { action: 'token.created', userId: other });
      const second = await repository.list(
        { pageSize: 1, ...(first.next && { position: first.next }) },
        { action: 'token.created', userId: other },
      );
      expect(second).toMatchObject({ entries: [{ id: entries[0]?.id }], next: null });
    });

    it('deletes entries after 400 days, in batches', async () => {
      const now = Date.now();
      const old = Array.from({ length: 5_001 }, () => entryAt(now - 400 * dayMs - 1_000));
      const kept = entryAt(now - 400 * dayMs + 60_000);
      for (let index = 0; index < old.length; index += 1_000)
        await repository.add(old.slice(index, index + 1_000));
      await repository.add([kept]);

      expect(await repository.prune(now)).toBe(true);
      expect(await repository.prune(now)).toBe(false);
      expect((await listAll()).map(({ id }) => id)).toEqual([kept.id]);
    });
  });

  it('stops the retries of an unavailable table when the service stops', async () => {
    const { log, countLost } = setup();
    await dataSource.query('ALTER TABLE audit_log RENAME TO unavailable');
    try {
      log.record(action());
      await log.onApplicationShutdown();
      await eventually(async () => expect(await countLost()).toBe(1));
    } finally {
      await dataSource.query('ALTER TABLE unavailable RENAME TO audit_log');
    }
  });
});
