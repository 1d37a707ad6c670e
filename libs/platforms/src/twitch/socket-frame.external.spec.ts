import { ServiceError } from '@stream-events/contracts';
import fc from 'fast-check';
import { readFrame } from './socket-frame.external.js';
import { readContent } from './webhook-message.external.js';

const read = (frame: unknown) =>
  readFrame(Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame)));
const metadata = (message_type: string) => ({
  message_id: 'message-1',
  message_type,
  message_timestamp: '2026-11-21T07:30:00.123456789Z',
});

describe(readFrame.name, () => {
  it.each([
    [30, 30_000],
    [null, 10_000],
    ['30', 10_000],
  ])('reads a welcome with the keep-alive interval %j', (keepalive_timeout_seconds, keepAliveMs) => {
    const session = { id: 'session-1', status: 'connected', keepalive_timeout_seconds, reconnect_url: null };

    expect(read({ metadata: metadata('session_welcome'), payload: { session } })).toEqual({
      kind: 'welcome',
      session: { id: 'session-1', keepAliveMs },
    });
  });

  it('reads a keep-alive', () => {
    expect(read({ metadata: metadata('session_keepalive'), payload: {} })).toEqual({ kind: 'keep_alive' });
  });

  it('reads the URL of a reconnect unchanged', () => {
    const reconnect_url = 'wss://cell-a.example/ws?challenge=1%2F2&id=session-1';

    expect(
      read({ metadata: metadata('session_reconnect'), payload: { session: { reconnect_url } } }),
    ).toEqual({ kind: 'reconnect', url: reconnect_url });
  });

  it('passes the event of a notification on exactly as sent', () => {
    const event = '{ "b": 1.0, "a" : 12345678901234567890, "a":"\\u00e9" }';
    const payload = `{"subscription":{"type":"channel.cheer","version":"1"},"event":${event}}`;
    const frame = read(`{"metadata":${JSON.stringify(metadata('notification'))}, "payload" : ${payload} }`);

    if (frame.kind !== 'message') throw new Error(`read a ${frame.kind}`);
    const { id, type, sentAt, content } = frame.message;
    expect([id, type, sentAt]).toEqual(['message-1', 'notification', Date.parse('2026-11-21T07:30:00.123Z')]);
    expect(readContent(type, content)).toMatchObject({ eventType: 'channel-cheer', eventData: event });
  });

  it.each(['yesterday', '1969-12-31T23:59:59Z', 7, undefined])(
    'reads a message with the time %j as one without a time',
    (message_timestamp) => {
      const frame = read({ metadata: { ...metadata('revocation'), message_timestamp }, payload: {} });

      expect(frame).toMatchObject({ kind: 'message', message: { sentAt: null } });
    },
  );

  it('reads frames of types that the platform adds as messages', () => {
    expect(read({ metadata: metadata('session_dance'), payload: {} })).toMatchObject({ kind: 'message' });
  });

  it.each([
    ['', undefined],
    ['[]', undefined],
    ['{}', 'message_type'],
    [{ metadata: [], payload: {} }, 'message_type'],
    [{ metadata: metadata('session_keepalive') }, 'payload'],
    [{ metadata: metadata('session_keepalive'), payload: 'x' }, 'payload'],
    [{ metadata: metadata('session_welcome'), payload: {} }, 'id'],
    [{ metadata: metadata('session_welcome'), payload: { session: { id: '' } } }, 'id'],
    [
      { metadata: metadata('session_reconnect'), payload: { session: { reconnect_url: null } } },
      'reconnect_url',
    ],
    [{ metadata: { message_type: 'notification' }, payload: {} }, 'message_id'],
  ])('rejects %j', (frame, field) => {
    try {
      read(frame);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      expect(Object.keys(error.errors ?? {})).toEqual(field === undefined ? [] : [field]);
      return;
    }
    throw new Error('was accepted');
  });

  it('throws only ServiceErrors for any frame', () => {
    const type = fc.constantFrom('session_welcome', 'session_reconnect', 'session_keepalive', 'notification');
    const value = fc.jsonValue();
    const frame = fc.record({
      metadata: fc.oneof(
        value,
        fc.record({ message_type: type, message_id: value, message_timestamp: value }),
      ),
      payload: fc.oneof(value, fc.record({ session: value, subscription: value, event: value })),
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          frame.map((each) => Buffer.from(JSON.stringify(each))),
        ),
        (bytes) => {
          try {
            const read = readFrame(bytes);
            if (read.kind === 'message') readContent(read.message.type, read.message.content);
          } catch (error) {
            if (!(error instanceof ServiceError)) throw error;
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
