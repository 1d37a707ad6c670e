import { randomUUID } from 'node:crypto';
import { eventually } from '@stream-events/testing';
import { eventsPath, type EventPage } from './api.js';
import { webhookSecrets } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

describe('a redelivered platform message', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ simulator: true });
  }, startLimitMs);

  afterAll(() => stack.stop());

  /** Delivers copies of one message, alternating between the gateways. */
  const deliver = async (message_id: string, timestamp: Date, copies: number): Promise<number[]> => {
    const { json } = await stack.simulate<{ responses: { status: number }[] }>(
      'POST',
      '/simulator/notifications',
      {
        type: 'channel.follow',
        callback: stack.urls.map((url) => `${url}${eventsPath}/webhook`),
        secret: webhookSecrets[0],
        message_id,
        timestamp: timestamp.toISOString(),
        copies,
      },
    );
    return json.responses.map(({ status }) => status);
  };

  /** Delivers five copies at once: three with one timestamp, two with another. */
  const deliverFiveTimes = async (messageId: string): Promise<number[]> => {
    const now = Date.now();
    const deliveries = [deliver(messageId, new Date(now), 3), deliver(messageId, new Date(now - 60_000), 2)];
    return (await Promise.all(deliveries)).flat();
  };

  /** Read the count from the gateways, which count each message once. The events services count a resent batch again. */
  const counted = (result: string): Promise<number> =>
    stack.metric('gateways', 'gateway_webhook_messages_total', { result });

  const readCounts = async () => {
    const [stored, known, deferred] = await Promise.all(['stored', 'known', 'deferred'].map(counted));
    return { stored: stored ?? 0, known: known ?? 0, deferred: deferred ?? 0 };
  };

  /** Delivers five copies each of 20 new messages. Returns how the gateways counted the copies. */
  const deliverMessages = async () => {
    const messageIds = Array.from({ length: 20 }, () => randomUUID());
    const before = await readCounts();
    const statuses = await Promise.all(messageIds.map(deliverFiveTimes));
    expect(statuses.flat()).toEqual(Array<number>(100).fill(204));
    const after = await readCounts();
    const counts = {
      stored: after.stored - before.stored,
      known: after.known - before.known,
      deferred: after.deferred - before.deferred,
    };
    return { messageIds, counts };
  };

  it('becomes one row and one message on EVENTS when two gateways receive it five times at the same time', async () => {
    let delivered = await deliverMessages();
    // While the store is slow, gateways divert copies to the INGEST stream without knowing whether they are new. Repeat until no copy is
    // diverted.
    for (let repeats = 0; repeats < 5 && delivered.counts.deferred > 0; repeats += 1)
      delivered = await deliverMessages();
    const { messageIds, counts } = delivered;
    expect(counts).toEqual({ stored: 20, known: 80, deferred: 0 });

    const rowsOf = (messageId: string): Promise<{ id: string }[]> =>
      stack.query<{ id: string }>('SELECT id FROM events.events WHERE event_id = $1', [messageId]);
    for (const messageId of messageIds)
      await eventually(async () => expect(await rowsOf(messageId)).toHaveLength(1));
    await stack.waitUntilPublished();
    const messages = await stack.readStream();
    for (const messageId of messageIds) {
      const rows = await rowsOf(messageId);
      expect(rows).toHaveLength(1);
      const published = messages.filter(({ record }) => record.event_id === messageId);
      expect(published.map(({ id }) => id)).toEqual([rows[0]?.id]);
    }
  });

  it('is recognized by its id alone when it arrives later with another timestamp and body', async () => {
    const messageId = randomUUID();
    await deliver(messageId, new Date(), 1);
    const list = async (): Promise<EventPage> =>
      (await stack.request<EventPage>('GET', `${eventsPath}?event_id=${messageId}`)).json;
    const before = await eventually(async () => {
      const page = await list();
      expect(page.results).toHaveLength(1);
      return page;
    });
    expect(await deliver(messageId, new Date(Date.now() - 300_000), 2)).toEqual([204, 204]);
    expect((await list()).results).toEqual(before.results);
  });
});
