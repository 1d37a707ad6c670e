import { jetstreamManager } from '@nats-io/jetstream';
import { eventually } from '@stream-events/testing';
import { v7 } from 'uuid';
import { eventsPath, newEvent, uniqueType, type EventPage } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const day = 24 * 3_600_000;
const patiently = { timeoutMs: 60_000 };

describe('RETENTION_DAYS', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1 });
  }, startLimitMs);

  afterAll(() => stack.stop());

  it('deletes the events of a store that kept them forever, and limits the stream', async () => {
    const eventType = uniqueType();
    const received = (daysAgo: number) =>
      newEvent({ id: v7({ msecs: Date.now() - daysAgo * day }), eventType, eventSource: 'retention' });
    const [ancient, old, recent] = [received(400), received(9), received(6)];
    await stack.storeEvents([ancient, old, recent]);
    const keepsForever = stack.eventsService;

    await stack.startEvents({ RETENTION_DAYS: '7' });
    await keepsForever.stop();

    await eventually(async () => {
      const page = await stack.request<EventPage>('GET', `${eventsPath}?event_type=${eventType}`);
      expect(page.json.results.map(({ id }) => id)).toEqual([recent.id]);
    }, patiently);
    for (const { id } of [ancient, old])
      expect(await stack.request('GET', `${eventsPath}/${id}`)).toMatchObject({ status: 404 });
    const { streams } = await jetstreamManager(stack.subscriber, { checkAPI: false });
    expect((await streams.info('EVENTS')).config.max_age).toBe((7 * day - 3_600_000) * 1e6);
  });
});
