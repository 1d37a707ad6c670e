import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import {
  connectionNameHeader,
  eventsStreamName,
  occurredAtHeader,
  printReplayedEventRecord,
  replaySubject,
} from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import { findFaults } from '@stream-events/testing';
import { eventBody, eventsPath, newEvent, uniqueType, type Answer } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface Description {
  asyncapi: string;
  channels: Record<string, { address: string }>;
}

interface Published {
  subject: string;
  headers?: MsgHdrs | undefined;
  string(): string;
}

describe('AsyncAPI description', () => {
  let stack: Stack;
  let answer: Answer<Description>;
  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1 });
    answer = await stack.request<Description>('GET', '/api/asyncapi.json', { token: null });
  }, startLimitMs);
  afterAll(() => stack.stop());

  /** Compares a NATS message with its description. Returns the differences. */
  const findDifferences = (channel: string, type: string, message: Published): string[] => {
    const { address = '' } = answer.json.channels[channel] ?? {};
    const subjects = new RegExp(`^${address.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^.]+')}$`);
    const pointer = `#/components/messages/${type}`;
    const payload: unknown = JSON.parse(message.string());
    return [
      ...(subjects.test(message.subject) ? [] : [`the subject ${message.subject}`]),
      ...findFaults(answer.json, `${pointer}/headers`, readHeaders(message.headers)),
      ...findFaults(answer.json, `${pointer}/payload`, payload),
    ];
  };

  it('is public, also for HEAD and for pages of any origin', async () => {
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.json.asyncapi).toBe('3.0.0');
    for (const method of ['GET', 'HEAD']) {
      const headers = { origin: 'https://docs.example' };
      const other = await stack.request(method, '/api/asyncapi.json/', { token: null, headers });
      expect(other.status).toBe(200);
      expect(other.headers.get('access-control-allow-origin')).toBe('*');
      expect(other.headers.get('content-length')).toBe(answer.headers.get('content-length'));
    }
    const posted = await stack.request('POST', '/api/asyncapi.json', { token: null });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('describes every message of the EVENTS stream', async () => {
    const types = [uniqueType('größe.mit punkt'), uniqueType('channel-raid'), '🎉'.repeat(60)];
    const store = (event_type: string) =>
      stack.request('POST', eventsPath, { body: eventBody({ event_type, event_data: {} }) });
    await Promise.all(types.map(store));
    await stack.request('POST', `${eventsPath}/a-test/test`, { body: { broadcaster_user_id: '1' } });
    const online = newEvent({ eventId: 'e-1', eventType: 'stream-online', occurredAt: Date.now() - 60_000 });
    await stack.storeEvents([online]);
    await stack.waitUntilPublished();

    const { state } = await (await jetstreamManager(stack.subscriber)).streams.info(eventsStreamName);
    const consumer = await jetstream(stack.subscriber).consumers.get(eventsStreamName);
    const seen: string[] = [];
    for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 10_000 })) {
      expect([message.subject, findDifferences('events', 'event', message)]).toEqual([message.subject, []]);
      seen.push(message.json<{ event_type: string }>().event_type);
      const isOnline = message.headers?.get('Nats-Msg-Id') === online.id;
      expect(message.headers?.has(occurredAtHeader)).toBe(isOnline);
    }
    expect(seen).toEqual(expect.arrayContaining([...types, 'a-test', 'stream-online']));
  });

  it('describes replays, and distinguishes them from events', async () => {
    const gateway = await connectNats({ urls: [stack.nats.urlFor('gateway')], name: 'test' });
    const replays = stack.subscriber.subscribe('live.replay.>', { max: 1 });
    await stack.subscriber.flush();
    const event = newEvent();
    const messageHeaders = headers();
    messageHeaders.set('Nats-Msg-Id', event.id);
    messageHeaders.set(connectionNameHeader, 'my-overlay');
    gateway.publish(replaySubject(event.eventType, '4711'), printReplayedEventRecord(event), {
      headers: messageHeaders,
    });

    for await (const message of replays) {
      expect(findDifferences('replays', 'replay', message)).toEqual([]);
      expect(findDifferences('events', 'event', message)).toEqual([
        `the subject ${message.subject}`,
        '/origin must be equal to one of the allowed values',
      ]);
    }
    await gateway.close();
  });
});

function readHeaders(messageHeaders: MsgHdrs | undefined): Record<string, string | undefined> {
  return Object.fromEntries([...(messageHeaders ?? [])].map(([name, [value]]) => [name, value]));
}
