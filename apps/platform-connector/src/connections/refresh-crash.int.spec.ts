import { natsUsers, startConnection } from '@stream-events/contracts';
import {
  createTestDatabase,
  eventually,
  freePort,
  ServiceProcess,
  startTestNats,
  type TestDatabase,
  type TestNats,
} from '@stream-events/testing';
import type { DataSource, QueryRunner } from 'typeorm';
import { connectConnector } from '../../test/connect-connector.js';
import { FakeConsent } from '../../test/fake-consent.js';
import { FakePlatform } from '../../test/fake-platform.js';
import { PatientClient } from '../../test/patient-client.js';

const refresh = 'POST /oauth2/token';
const validate = 'GET /oauth2/validate';

describe('a platform connector that is killed while it refreshes a token', () => {
  let nats: TestNats;
  let database: TestDatabase;
  let dataSource: DataSource;
  let gateway: PatientClient;
  let fake: FakePlatform;
  let consent: FakeConsent;
  let connector: ServiceProcess;

  beforeAll(async () => {
    nats = await startTestNats(Object.values(natsUsers));
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 4);
    gateway = new PatientClient({ urls: [nats.urlFor('gateway')], name: 'test' });
    await gateway.connect();
    fake = await FakePlatform.start();
    connector = new ServiceProcess('platform-connector', {
      DATABASE_URL: database.urlFor('platform_connector'),
      NATS_URL: nats.urlFor('platform-connector'),
      ADMIN_PORT: `${await freePort()}`,
      SECRET_KEY: 'k'.repeat(32),
      PLATFORM: 'simulator',
      PLATFORM_CLIENT_ID: 'client-of-the-tests',
      PLATFORM_CLIENT_SECRET: fake.clientSecret,
      PLATFORM_API_URL: `http://127.0.0.1:${fake.port}/api`,
      PLATFORM_AUTH_URL: `http://127.0.0.1:${fake.port}/oauth2`,
    });
  });

  beforeEach(() => {
    consent = new FakeConsent(fake);
  });

  afterEach(async () => {
    await connector.kill('SIGKILL');
    await dataSource.query('TRUNCATE connections, platform_errors, rate_budgets');
  });

  afterAll(async () => {
    await connector.stop();
    await gateway.close();
    await dataSource.destroy();
    await Promise.all([fake.stop(), nats.stop(), database.drop()]);
  });

  const readState = async (): Promise<string | undefined> => {
    const [row] = await dataSource.query<{ state: string }[]>('SELECT state FROM connections');
    return row?.state;
  };

  /** Makes the token due for validation. The platform refuses the token, so the connector refreshes it. */
  const makeDue = (): Promise<unknown> =>
    dataSource.query('UPDATE connections SET due_at = now() WHERE due_at IS NOT NULL');

  const untilHeld = (): Promise<void> => eventually(() => expect(consent.held).toBe(1));

  /** Locks the row, so that the connector waits before it commits the new tokens. The caller releases the lock. */
  const untilCommitWaits = async (): Promise<QueryRunner> => {
    const locking = dataSource.createQueryRunner();
    await locking.startTransaction();
    await locking.query('SELECT FROM connections FOR UPDATE');
    consent.releaseReplies();
    await eventually(async () => {
      const waiting = await dataSource.query<unknown[]>(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND query LIKE 'UPDATE connections%'`,
      );
      expect(waiting).toHaveLength(1);
    });
    return locking;
  };

  const connect = async (): Promise<void> => {
    await connector.start();
    consent.decision = 'granted';
    await gateway.request(startConnection, {});
    await eventually(async () => expect(await readState()).toBe('connected'), { timeoutMs: 45_000 });
    // Mark the connection as monitored. Otherwise, the attempts to reach the streamer monitor, which does not run here, would validate the
    // token.
    await dataSource.query(`UPDATE connections SET is_monitored = true, due_at = now() + interval '1 hour'`);
  };

  /** The steps at which the connector crashes, and the expected state after a restart. The platform accepts a refresh token only once. */
  const steps: [string, string, () => Promise<QueryRunner | undefined>][] = [
    [
      'before the refresh',
      'connected',
      async () => {
        consent.holdsReplyTo = validate;
        await makeDue();
        await untilHeld();
        return undefined;
      },
    ],
    [
      'before the reply to the refresh',
      'reconnect_needed',
      async () => {
        consent.holdsReplyTo = refresh;
        await makeDue();
        await untilHeld();
        return undefined;
      },
    ],
    [
      'before the commit of the new tokens',
      'reconnect_needed',
      async () => {
        consent.holdsReplyTo = refresh;
        await makeDue();
        await untilHeld();
        return untilCommitWaits();
      },
    ],
    [
      'before the first use of the new tokens',
      'connected',
      async () => {
        consent.holdsReplyTo = refresh;
        await makeDue();
        await untilHeld();
        consent.holdsReplyTo = validate;
        consent.releaseReplies();
        await untilHeld();
        return undefined;
      },
    ],
  ];

  it.each(steps)(
    'works or asks for another consent after the next start, without a loop: %s',
    async (_step, state, reach) => {
      await connect();
      consent.expireAccessTokens();
      const locking = await reach();
      await connector.kill('SIGKILL');
      consent.holdsReplyTo = undefined;
      consent.releaseReplies();
      await locking?.rollbackTransaction();
      await locking?.release();

      const validations = fake.count(validate);
      await connector.start();
      await makeDue();
      await eventually(
        async () => {
          expect(fake.count(validate)).toBeGreaterThan(validations);
          expect(await readState()).toBe(state);
        },
        { timeoutMs: 45_000 },
      );
      await eventually(async () => {
        const [row] = await dataSource.query<{ isDue: boolean | null }[]>(
          `SELECT due_at < now() + interval '30 minutes' AS "isDue" FROM connections`,
        );
        expect(row?.isDue).not.toBe(true);
      });
      // One refresh succeeds. In the state `reconnect_needed`, a second one was refused.
      expect(consent.refreshes).toBe(state === 'connected' ? 1 : 2);
    },
    // Long, because the test starts the process twice.
    300_000,
  );
});
