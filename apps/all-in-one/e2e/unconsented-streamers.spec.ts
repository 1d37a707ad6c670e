import { eventually } from '@stream-events/testing';
import { RecordingProxy } from './recording-proxy.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { application } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

const scopes = ['bits:read', 'channel:read:subscriptions'];
const types = ['channel.cheer', 'channel.subscribe'];
const others = 999;
// Subscribing usually takes one second; the remaining time is a margin for a busy machine. The test delays the regular pass, so only the
// message about the consent can trigger the subscriptions in time.
const subscribedWithinMs = 45_000;
const typesPath = '/api/v1/platform/event-types';
const settled = { timeoutMs: 300_000, intervalMs: 100 };
const limitMs = 900_000;

describe('1,000 streamers, one of whom gives consent', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;
  let proxy: RecordingProxy;

  beforeAll(async () => {
    stack = await startStack({
      gateways: 1,
      events: 1,
      simulator: true,
      environment: { SIMULATOR_GRANTS: 'explicit' },
    });
    platform = new SimulatedPlatform(stack);
    await platform.setLimits({ rate_limit: 100_000 });
    proxy = await RecordingProxy.start(stack.simulator!.url);
    await Promise.all([
      stack.startConnector({ PLATFORM_API_URL: `${proxy.url}/helix` }),
      stack.startMonitor(),
    ]);
    await activateOnly([...types, 'user.authorization.grant', 'user.authorization.revoke']);
  }, startLimitMs);

  afterAll(async () => {
    await stack.stop();
    await proxy.stop();
  });

  const activateOnly = async (wanted: readonly string[]): Promise<void> => {
    const { json } = await stack.request<{ type: string; active: boolean }[]>('GET', typesPath);
    const changed = json.filter(({ type, active }) => active !== wanted.includes(type));
    for (const { type, active } of changed)
      await stack.request('PUT', `${typesPath}/${type}`, { body: { active: !active } });
  };

  /** Returns how many subscription requests the connector has sent to the platform. */
  const creations = async (): Promise<number> =>
    (await platform.requests())['POST /helix/eventsub/subscriptions'] ?? 0;

  const statuses = async (): Promise<Record<string, number>> => {
    const rows = await stack.query<{ status: string; count: number }>(
      'SELECT status, count(*)::int AS count FROM platform_connector.subscriptions WHERE type = ANY($1) GROUP BY 1',
      [types],
    );
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  };

  /** Monitors 1,000 more streamers without consent and returns one of them. */
  const monitorMore = async (firstId: number): Promise<SimulatedUser> => {
    const before = await statuses();
    await stack.query(
      `INSERT INTO streamer_monitor.streamers (id, platform_username, platform_id, named_at, streaming, is_streaming_known, disabled,
         created_at, updated_at, next_poll_at, next_naming_at)
       SELECT gen_random_uuid(), 'other_' || number, number, now(), false, false, false, now(), now(), now() + interval '1 minute',
         now() + interval '15 minutes'
       FROM generate_series($1::int, $1::int + $2::int - 1) AS number`,
      [firstId, others],
    );
    const user = await platform.addUser();
    await eventually(() => monitorStreamer(stack, user.login));
    const not_granted = (before.not_granted ?? 0) + (others + 1) * types.length;
    await eventually(async () => expect(await statuses()).toEqual({ ...before, not_granted }), settled);
    return user;
  };

  /** Gives consent and waits until the user's subscriptions are enabled. Returns the duration in milliseconds. */
  const giveConsent = async ({ id, login }: SimulatedUser): Promise<number> => {
    const { PLATFORM_CLIENT_ID: client_id } = application;
    await stack.query(
      `UPDATE platform_connector.reconciliation
       SET due_at = GREATEST(due_at, now() + interval '55 seconds'), listing_due_at = GREATEST(listing_due_at, now() + interval '55 seconds')`,
    );
    const givenAt = performance.now();
    await stack.simulate('POST', '/simulator/grants', { login, client_id, scopes });
    await eventually(async () => {
      const rows = await stack.query<{ type: string }>(
        `SELECT type FROM platform_connector.subscriptions
         WHERE condition ->> 'broadcaster_user_id' = $1 AND status = 'enabled' ORDER BY type`,
        [id],
      );
      expect(rows.map(({ type }) => type)).toEqual(types);
    }, settled);
    return performance.now() - givenAt;
  };

  it(
    'is subscribed, and the platform is asked for none of the others',
    async () => {
      const user = await monitorMore(1_000_000);
      await eventually(
        async () => expect(await stack.count(`platform_connector.subscriptions WHERE status = 'enabled'`)).toBe(2), // prettier-ignore
        settled,
      );
      const before = await creations();

      expect(await giveConsent(user)).toBeLessThan(subscribedWithinMs);

      expect((await creations()) - before).toBe(types.length);
    },
    limitMs,
  );

  it(
    'is subscribed when the platform does not list what users have granted, after one rejected request for each of the others',
    async () => {
      proxy.missingPath = '/helix/authorization/users';
      const before = await creations();

      const user = await monitorMore(2_000_000);
      expect((await creations()) - before).toBe(others + 1);
      expect(await giveConsent(user)).toBeLessThan(subscribedWithinMs);

      expect((await creations()) - before).toBe(others + 1 + types.length);
    },
    limitMs,
  );
});
