import { parseStoreEventBatch, printStoreEventBatch, ServiceError } from '@stream-events/contracts';
import fc from 'fast-check';
import { toPlatformEvent } from '../platform-event.js';
import { readMessage, readHeaders } from './webhook-message.external.js';

const read = (type: string, body: string) => readMessage(type, Buffer.from(body));
const subscription = '{"id":"f1c2","type":"stream.offline","version":"1"}';

function errorsOf(type: string, body: string): Record<string, string[]> | undefined {
  try {
    read(type, body);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).toBe('invalid');
    return error.errors;
  }
}

describe(readHeaders.name, () => {
  it('reads the headers as Node provides them', () => {
    const headers = {
      'twitch-eventsub-message-id': 'id',
      'twitch-eventsub-message-timestamp': 'time',
      'twitch-eventsub-message-signature': 'sha256=1',
      'twitch-eventsub-message-type': 'notification',
    };

    expect(readHeaders(headers)).toEqual({
      messageId: 'id',
      timestamp: 'time',
      signature: 'sha256=1',
      type: 'notification',
    });
  });

  it('reads an absent or repeated header as empty', () => {
    const headers = { 'twitch-eventsub-message-id': ['a', 'b'] };

    expect(readHeaders(headers)).toEqual({ messageId: '', timestamp: '', signature: '', type: '' });
  });
});

describe(readMessage.name, () => {
  it('returns the event exactly as sent', () => {
    const event = '{ "b": 1.0, "a" : 12345678901234567890, "a":"\\u00e9" }';

    expect(read('notification', `{"subscription":${subscription},"event":${event}}`)).toEqual({
      kind: 'notification',
      eventType: 'stream-offline',
      eventData: event,
      data: JSON.parse(event) as object,
      subscription: null,
    });
  });

  it('reads which subscription delivers an event', () => {
    const described = {
      id: 'f1c2',
      type: 'channel.raid',
      version: '1',
      // Twitch also lists optional keys, with empty values.
      condition: { to_broadcaster_user_id: '7', from_broadcaster_user_id: '' },
    };
    const subscriptionOf = (changes: object): unknown => {
      const body = JSON.stringify({ subscription: { ...described, ...changes }, event: {} });
      const message = read('notification', body);
      return message.kind === 'notification' ? message.subscription : undefined;
    };

    expect(subscriptionOf({})).toBe('["channel.raid","1",["to_broadcaster_user_id","7"]]');
    for (const changes of [{ version: 1 }, { condition: { a: 1 } }, { condition: [] }])
      expect(subscriptionOf(changes)).toBeNull();
  });

  it('creates one event from a batched message', () => {
    const events = '[{"id":"1"}, {"id":"2"}]';

    expect(
      read('notification', `{"subscription":{"type":"drop.entitlement.grant"},"events":${events}}`),
    ).toEqual({
      kind: 'notification',
      eventType: 'drop-entitlement-grant',
      eventData: `{"events":${events}}`,
      data: { events: JSON.parse(events) as object },
      subscription: null,
    });
  });

  it('prefers the event when a message has both', () => {
    const body = `{"subscription":${subscription},"events":[],"event":{"a":1}}`;

    expect(read('notification', body)).toMatchObject({ eventData: '{"a":1}' });
  });

  it('replaces every dot of a type and keeps underscores', () => {
    const type = 'channel.channel_points_custom_reward_redemption.add';
    const body = `{"subscription":{"type":"${type}"},"event":{}}`;

    expect(read('notification', body)).toMatchObject({
      eventType: 'channel-channel_points_custom_reward_redemption-add',
    });
  });

  it('reads the challenge that the response must repeat', () => {
    const challenge = 'pogchamp-kappa-360noscope-vohiyo "é"\\n';

    expect(
      read(
        'webhook_callback_verification',
        JSON.stringify({ challenge, subscription: { type: 'stream.online' } }),
      ),
    ).toEqual({ kind: 'challenge', challenge, eventType: 'stream.online' });
  });

  it('uses the subscription as the data of a revocation', () => {
    expect(read('revocation', `{"subscription": ${subscription} }`)).toEqual({
      kind: 'revocation',
      eventType: 'stream-offline',
      eventData: subscription,
      data: JSON.parse(subscription) as object,
    });
  });

  it.each(['', 'something-new', 'Notification', '__proto__'])('accepts a message of type %j', (type) => {
    expect(read(type, '{"anything":true}')).toEqual({ kind: 'other' });
  });

  it.each([
    ['notification', '{"event":{}}', 'subscription.type'],
    ['notification', '{"subscription":null,"event":{}}', 'subscription.type'],
    ['notification', '{"subscription":"a","event":{}}', 'subscription.type'],
    ['notification', '{"subscription":{"type":1},"event":{}}', 'subscription.type'],
    ['notification', '{"subscription":{"type":""},"event":{}}', 'subscription.type'],
    ['notification', '{"subscription":{"type":"a\\u0000"},"event":{}}', 'subscription.type'],
    ['notification', `{"subscription":{"type":"${'a'.repeat(256)}"},"event":{}}`, 'subscription.type'],
    ['notification', `{"subscription":${subscription}}`, 'event'],
    ['notification', `{"subscription":${subscription},"event":null}`, 'event'],
    ['notification', `{"subscription":${subscription},"event":[]}`, 'event'],
    ['notification', `{"subscription":${subscription},"event":"{}"}`, 'event'],
    ['notification', `{"subscription":${subscription},"events":{}}`, 'event'],
    ['revocation', '{}', 'subscription.type'],
    ['revocation', '{"subscription":[]}', 'subscription.type'],
    ['webhook_callback_verification', '{}', 'challenge'],
    ['webhook_callback_verification', '{"challenge":""}', 'challenge'],
    ['webhook_callback_verification', '{"challenge":["a"]}', 'challenge'],
  ])('rejects a %s with the body %s', (type, body, field) => {
    expect(Object.keys(errorsOf(type, body) ?? {})).toEqual([field]);
  });

  it('ignores a prototype in a message', () => {
    const body = `{"__proto__":{"subscription":${subscription},"event":{}}}`;

    expect(Object.keys(errorsOf('notification', body) ?? {})).toEqual(['subscription.type']);
  });

  it('throws only ServiceErrors for any message, and returns only objects that can be stored', () => {
    const eventId = '018df751-3003-7abc-8def-0123456789ab';
    const known = fc.constantFrom('notification', 'revocation', 'webhook_callback_verification');
    const value = fc.jsonValue();
    const body = fc.oneof(
      fc.uint8Array(),
      fc
        .record(
          {
            subscription: fc.oneof(value, fc.record({ type: value })),
            event: value,
            events: value,
            challenge: value,
          },
          { requiredKeys: [] },
        )
        .map((message) => Buffer.from(JSON.stringify(message))),
    );
    fc.assert(
      fc.property(known, body, (type, bytes) => {
        try {
          const message = readMessage(type, bytes);
          if (message.kind === 'notification' || message.kind === 'revocation') {
            expect(message.data).toEqual(JSON.parse(message.eventData));
            expect(message.eventData).toMatch(/^\{/);
            expect(message.eventType).not.toContain('.');
            const event = toPlatformEvent(message, { id: eventId, messageId: 'message-1', occurredAt: 0 });
            const batch = printStoreEventBatch({ events: [event] });
            expect(parseStoreEventBatch(batch).events).toHaveLength(1);
          }
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});
