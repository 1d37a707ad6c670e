import { eventually } from '@stream-events/testing';
import { eventsPath, type EventPage } from './api.js';
import { LiveSocket } from './live-clients.js';
import type { SimulatedUser } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

const patiently = { timeoutMs: 60_000 };

interface SubscriptionPage {
  results: { status: string; condition: Record<string, string> }[];
}

describe('a raid between two monitored streamers', () => {
  let stack: Stack;
  let streamers: SimulatedUser[];

  beforeAll(async () => {
    stack = await startStack({ platform: true });
    // This raid only creates the two users. The service has no subscription for it.
    await raid();
    const { json } = await stack.simulate<{ users: SimulatedUser[] }>('GET', '/simulator/users?first=1000');
    streamers = json.users.slice(-2);
    for (const { login } of streamers) await monitorStreamer(stack, login);
  }, startLimitMs);

  afterAll(() => stack.stop());

  /** One of the two users raids the other. */
  const raid = async (): Promise<void> => {
    const scenario = { name: 'raid', users: 2, rate: 0, every_ms: 3_600_000 };
    const { status } = await stack.simulate('POST', '/simulator/scenarios', scenario);
    expect(status).toBe(200);
  };

  const raidConditions = async (): Promise<Record<string, string>[]> => {
    const path = '/api/v1/platform/subscriptions?page_size=100&status=enabled';
    const { json } = await stack.request<SubscriptionPage>('GET', path);
    const ofRaids = /^(?:from|to)_broadcaster_user_id$/;
    return json.results
      .map(({ condition }) => condition)
      .filter((condition) => Object.keys(condition).some((key) => ofRaids.test(key)));
  };

  it('arrives as two messages, and is stored, published, and delivered once', async () => {
    await eventually(
      async () =>
        expect(await raidConditions()).toEqual(
          expect.arrayContaining(
            streamers.flatMap(({ id }) => [{ from_broadcaster_user_id: id }, { to_broadcaster_user_id: id }]),
          ),
        ),
      patiently,
    );
    const first = { token: stack.ownerToken, event_type: 'channel-raid' };
    const sockets = await Promise.all(
      streamers.map(({ id }) => LiveSocket.ready(stack.nextUrl, { ...first, channel_id: id })),
    );

    await raid();

    const known = () => stack.metric('gateways', 'gateway_webhook_messages_total', { result: 'known' });
    // The platform redelivers a message when the response is late, so more than one copy can arrive.
    await eventually(async () => expect(await known()).toBeGreaterThanOrEqual(1), patiently);
    const lists = await Promise.all(
      streamers.map(({ id }) =>
        stack.request<EventPage>('GET', `${eventsPath}?event_types=channel-raid&channel_id=${id}`),
      ),
    );
    const [event] = lists[0]?.json.results ?? [];
    expect(lists.map(({ json }) => json.results)).toEqual([[event], [event]]);
    await stack.waitUntilPublished();
    const published = (await stack.readStream()).filter(({ record }) => record.event_type === 'channel-raid');
    expect(published.map(({ id, subject }) => ({ id, subject }))).toEqual([
      {
        id: event?.id,
        subject: `events.platform.channel-raid.${String(event?.event_data.to_broadcaster_user_id)}`,
      },
    ]);
    for (const socket of sockets)
      await eventually(() => expect(socket.events.map(({ id }) => id)).toEqual([event?.id]));
    await Promise.all(sockets.map((socket) => socket.close()));
  }, 240_000);
});
