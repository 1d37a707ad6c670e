import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, parseStreamDescription } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, uniqueType, type Answer, type EventRecord } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

// Test limit. Other instances take over the batches of a dead instance after 10 s. Everything else recovers within 2 s.
const limitMs = 300_000;

describe('loss of the EVENTS stream', () => {
  let stack: Stack;
  /** Has permission to delete streams. */
  let operator: NatsConnection;

  beforeAll(async () => {
    stack = await startStack({ killable: ['events'], gateways: 2, events: 2 });
    operator = await connectNats({
      urls: [stack.nats.urlFor('events')],
      name: 'test-operator',
      account: 'EVENTS',
    });
  }, startLimitMs);

  afterAll(async () => {
    await operator.close();
    await stack.stop();
  });

  const deleteStream = async (): Promise<void> => {
    await (await jetstreamManager(operator)).streams.delete(eventsStreamName);
  };

  const readEpoch = async (): Promise<string | undefined> => {
    const { config } = await (await jetstreamManager(operator)).streams.info(eventsStreamName);
    return parseStreamDescription(config.description ?? '')?.epoch;
  };

  /** Several clients post events to all gateways. Runs `disturb` after half of the requests. */
  const underLoad = async (
    type: string,
    total: number,
    disturb: () => Promise<unknown>,
  ): Promise<string[]> => {
    const answers: Answer<EventRecord>[] = [];
    let sent = 0;
    const client = async (gateway: string): Promise<void> => {
      while (sent < total) {
        sent += 1;
        const body = eventBody({ event_type: type });
        answers.push(await stack.request<EventRecord>('POST', eventsPath, { body, gateway }));
      }
    };
    const clients = Array.from({ length: 12 }, (_, index) => client(stack.urls[index % 2] ?? ''));
    await eventually(() => expect(answers.length).toBeGreaterThan(total / 2), {
      timeoutMs: 120_000,
      intervalMs: 5,
    });
    await disturb();
    await Promise.all(clients);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    return answers.map(({ json }) => json.id ?? '').sort();
  };

  const expectPublishedOnce = (type: string, ids: string[]): Promise<void> =>
    eventually(
      async () => {
        const published = (await stack.readStream()).filter(({ record }) => record.event_type === type);
        expect(published.map(({ id }) => id).sort()).toEqual(ids);
      },
      { timeoutMs: 90_000 },
    );

  const countEpochs = async (): Promise<number> => {
    const counts = await Promise.all(
      stack.events.map((events) => events.metric('events_stream_epochs_total')),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  };

  it(
    'under load starts one new epoch and puts every accepted event on the new stream once',
    async () => {
      const type = uniqueType('loss');
      const before = await readEpoch();

      const ids = await underLoad(type, 600, deleteStream);

      await expectPublishedOnce(type, ids);
      await stack.waitUntilPublished();
      expect(await readEpoch()).toMatch(/^[0-9a-f]{8}$/);
      expect(await readEpoch()).not.toBe(before);
      expect(await countEpochs()).toBe(1);
    },
    limitMs,
  );

  it(
    'together with the publishing instance loses no events',
    async () => {
      const type = uniqueType('loss');

      const ids = await underLoad(type, 600, () =>
        Promise.all([stack.eventsService.kill('SIGKILL'), deleteStream()]),
      );
      await stack.eventsService.start();

      await expectPublishedOnce(type, ids);
      await stack.waitUntilPublished();
    },
    limitMs,
  );

  it(
    'while no events service is running is repaired at the next start',
    async () => {
      const type = uniqueType('loss');
      const ids = await underLoad(type, 100, () => Promise.resolve());
      await stack.waitUntilPublished();
      await Promise.all(stack.events.map((events) => events.kill('SIGKILL')));
      await deleteStream();

      await Promise.all(stack.events.map((events) => events.start()));

      await expectPublishedOnce(type, ids);
    },
    limitMs,
  );
});
