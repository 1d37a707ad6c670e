import { alarmTimes, platformConnector, startPlatformConnector } from '@stream-events/platform-connector';
import { createLogger, Health, loadConfig, Registry, type RunningService } from '@stream-events/service';
import { eventually, WebhookReceiver } from '@stream-events/testing';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

interface AlarmRecord {
  key: string;
  message: string;
  cleared: string | null;
}

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
// Time between two occurrences.
const occurrenceMs = 150;
const settled = { timeoutMs: 120_000 };
// Test limit that covers all waits of a test.
const limitMs = 900_000;

/** Alarm times in seconds instead of minutes. */
const times = {
  ...alarmTimes,
  checkMs: 200,
  holdMs: 1_000,
  silence: { minEvents: 30, silenceMs: 5_000 },
};

describe('alarms', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;
  let receiver: WebhookReceiver;
  let connector: RunningService;
  const metrics = new Registry();
  let user: SimulatedUser;
  let happening: NodeJS.Timeout;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start(secret);
    stack = await startStack({ gateways: 1, events: 1, simulator: true });
    platform = new SimulatedPlatform(stack);
    const alerts = { ALERT_WEBHOOK_URL: receiver.url, ALERT_WEBHOOK_SECRET: secret };
    const config = loadConfig(platformConnector.variables, await stack.connectorEnvironment(alerts));
    // The connector runs in this process so that the test can shorten its alarm times.
    connector = await startPlatformConnector(
      { config, logger: createLogger('test', 'silent'), health: new Health(), metrics },
      times,
    );
    await stack.startMonitor();
    user = await platform.addUser();
    // Start the stream before the streamer is monitored. The first poll then sees the stream.
    await platform.goLive(user.id);
    await eventually(async () => {
      const path = '/api/v1/platform/event-types/channel.update';
      expect((await stack.request('PUT', path, { body: { active: true } })).status).toBe(200);
    }, settled);
    await monitorStreamer(stack, user.login);
    happening = setInterval(() => {
      const event = { broadcaster_user_id: user.id, title: 'again' };
      void stack
        .simulate('POST', '/simulator/occurrences', { type: 'channel.update', event })
        .catch(() => undefined);
    }, occurrenceMs);
  }, startLimitMs);

  afterAll(async () => {
    clearInterval(happening);
    await connector.close();
    await stack.stop();
    receiver.stop();
  });

  const open = async (): Promise<AlarmRecord[]> =>
    (await stack.request<{ alarms: AlarmRecord[] }>('GET', '/api/v1/platform/status')).json.alarms;

  const countEvents = async (): Promise<number> => {
    const path = `/api/v1/platform-events?event_type=channel-update&user_id=${user.id}&page_size=100`;
    return (await stack.request<{ results: unknown[] }>('GET', path)).json.results.length;
  };

  it(
    'are raised, posted, and cleared when a live channel becomes silent, and has events again',
    async () => {
      const expectRaised = async (): Promise<void> => {
        expect(await open()).toMatchObject([
          { key: `channel_silent:${user.id}`, message: expect.stringContaining(user.login), cleared: null },
        ]);
        const system = await stack.request<{ alarms: AlarmRecord[] }>('GET', '/api/v1/system');
        expect(system.json.alarms).toMatchObject([{ key: `channel_silent:${user.id}` }]);
        expect(await metrics.metrics()).toContain('alarms_open{kind="channel_silent"} 1');
        expect(receiver.types.at(-1)).toBe('alarm.raised');
      };
      // Twice as many events as needed, because the first ones can arrive before the check knows the subscription.
      await eventually(
        async () => expect(await countEvents()).toBeGreaterThanOrEqual(2 * times.silence.minEvents),
        settled,
      );
      // A slow machine can stall for 5 s, which raises the alarm too early.
      await eventually(async () => expect(await open()).toEqual([]), settled);
      await platform.setFaults({ notifications: { lose: 1 } });
      // Events in flight can clear the alarm again.
      await eventually(expectRaised, settled);

      await platform.setFaults({ notifications: {} });
      await eventually(async () => expect(await open()).toEqual([]), settled);
      await eventually(
        () => expect(receiver.types.slice(-2)).toEqual(['alarm.raised', 'alarm.cleared']),
        settled,
      );
      const [raised, cleared] = receiver.received.slice(-2);
      expect(cleared?.body.data).toMatchObject({
        id: raised?.body.data.id,
        kind: 'channel_silent',
        subject: user.id,
      });
    },
    limitMs,
  );
});
