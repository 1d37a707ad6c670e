import { setEventType } from '@stream-events/contracts';
import { PlatformCallError } from '@stream-events/platforms';
import { eventually } from '@stream-events/testing';
import { ReconcilerSetup, type ConnectorInstance } from '../../test/reconciler-setup.js';
import { callback } from '../../test/subscription-factory.js';
import { UserGrants } from './user-grants.service.js';

const consented = '500';
const scopes = ['bits:read', 'channel:read:subscriptions', 'moderator:read:followers'];
const types = ['channel.cheer', 'channel.subscribe', 'channel.follow'];

describe(UserGrants.name, () => {
  let setup: ReconcilerSetup;

  beforeAll(async () => {
    setup = await ReconcilerSetup.start();
  });

  beforeEach(async () => {
    await setup.reset();
    setup.platform.grants = new Map();
  });

  afterAll(() => setup.close());

  /** Monitors these streamers. Deactivates the types that need no consent. */
  const monitor = async (streamers: string[]): Promise<ConnectorInstance> => {
    const instance = await setup.startInstance();
    for (const type of ['stream.online', 'stream.offline'])
      await setup.gateway.request(setEventType, { type, active: false });
    for (const type of types) await setup.gateway.request(setEventType, { type, active: true });
    setup.monitored.ids = streamers;
    await setup.passTime();
    return instance;
  };
  const grant = async (userId: string, granted: string[]): Promise<void> => {
    setup.platform.grants?.set(userId, granted);
    await setup.publish({
      eventType: 'user-authorization-grant',
      eventData: JSON.stringify({ client_id: 'app', user_id: userId }),
    });
  };
  const counts = async (): Promise<Record<string, number>> => {
    const rows = await setup.dataSource.query<{ status: string; count: number }[]>(
      'SELECT status, count(*)::int AS count FROM subscriptions GROUP BY status',
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  };
  const subscribed = types.map((type) => `${type} ${consented}`).sort();

  it('subscribes one of 1,000 streamers when it consents, and asks the platform for none of the others', async () => {
    await monitor(Array.from({ length: 1_000 }, (_, index) => `${index}`));
    await eventually(async () => expect(await counts()).toEqual({ not_granted: 3_000 }));

    // Postpone the next round. Without a message about consent, the service then does nothing for a minute.
    await setup.postponeRounds();
    await grant(consented, scopes);
    await eventually(() => expect(setup.platform.names(callback)).toEqual(subscribed));

    expect(setup.platform.denials).toEqual(new Map());
    // 10 users per call make 100 calls. The user who consented adds one.
    expect(setup.platform.authorizationLists).toHaveLength(101);
    const [row] = await setup.dataSource.query<{ reason: string }[]>(
      `SELECT reason FROM subscriptions WHERE status = 'not_granted' AND type = 'channel.cheer' LIMIT 1`,
    );
    expect(row?.reason).toContain('has not granted bits:read. Connect or reconnect this user');
  });

  it('subscribes only to what is granted, and to the rest when it is granted later', async () => {
    setup.platform.grants?.set('1', ['bits:read']);
    await monitor(['1']);
    await eventually(async () =>
      expect(await setup.statuses()).toEqual({
        'channel.cheer 1': 'enabled',
        'channel.subscribe 1': 'not_granted',
        'channel.follow 1': 'not_granted',
      }),
    );

    await grant('1', scopes);
    await eventually(async () => expect(await counts()).toEqual({ enabled: 3 }));
    expect(setup.platform.denials).toEqual(new Map());
  });

  it('does not subscribe again when the consent is withdrawn', async () => {
    setup.platform.grants?.set('1', scopes);
    await monitor(['1', '2']);
    await eventually(async () => expect(await counts()).toEqual({ enabled: 3, not_granted: 3 }));

    setup.platform.grants?.delete('1');
    for (const { id } of [...setup.platform.subscriptions.values()]) {
      setup.platform.setStatus(id, 'authorization_revoked');
      await setup.publish({ eventData: JSON.stringify({ id, status: 'authorization_revoked' }) });
    }

    await eventually(async () => expect(await counts()).toEqual({ not_granted: 6 }));
    expect(setup.platform.denials).toEqual(new Map());
    expect(setup.platform.names(callback)).toEqual([]);
  });

  it('records a withdrawn consent even if the database fails at first', async () => {
    setup.platform.grants?.set('1', scopes);
    const { metrics } = await monitor(['1']);
    await eventually(async () => expect(await counts()).toEqual({ enabled: 3 }));

    await setup.postponeRounds();
    await setup.dataSource.query('ALTER TABLE user_grants RENAME TO user_grants_away');
    setup.platform.grants?.delete('1');
    for (const { id } of [...setup.platform.subscriptions.values()]) {
      setup.platform.setStatus(id, 'authorization_revoked');
      await setup.publish({ eventData: JSON.stringify({ id, status: 'authorization_revoked' }) });
    }
    await eventually(async () =>
      expect(await metrics.metrics()).toContain('consumer="platform-connector-revocations",outcome="retry"'),
    );
    await setup.dataSource.query('ALTER TABLE user_grants_away RENAME TO user_grants');

    await eventually(async () => expect(await counts()).toEqual({ not_granted: 3 }));
    expect(setup.platform.denials).toEqual(new Map());
  });

  it('tries once per streamer when the platform does not list what is granted', async () => {
    setup.platform.authorizationFailure = new PlatformCallError('unexpected_status', 'not found');
    setup.platform.grants?.set('2', scopes);
    await monitor(['1', '2', '3']);

    await eventually(async () => expect(await counts()).toEqual({ enabled: 3, not_granted: 6 }));
    expect(setup.platform.denials).toEqual(new Map([['1', 1], ['3', 1]])); // prettier-ignore
    await setup.dataSource.query('UPDATE reconciliation SET due_at = now()');
    await grant('3', scopes);
    await eventually(async () => expect(await counts()).toEqual({ enabled: 6, not_granted: 3 }));
    expect(setup.platform.denials.get('1')).toBe(1);
  });

  it('lists again after an outage of the platform', async () => {
    setup.platform.isAway = true;
    setup.platform.grants?.set('1', scopes);
    await monitor(['1']).catch(() => undefined);
    setup.platform.isAway = false;

    await eventually(async () => {
      await setup.passTime();
      expect(await counts()).toEqual({ enabled: 3 });
    });
    expect(setup.platform.denials).toEqual(new Map());
  });
});
