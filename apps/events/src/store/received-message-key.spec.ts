import { newEvent } from '../../test/new-event.js';
import { receivedMessageKey } from './received-message-key.js';

describe(receivedMessageKey.name, () => {
  it('is the same for a redelivered platform message, even if its other fields differ', () => {
    const first = newEvent({ eventId: 'message-1', eventType: 'a', eventData: '{"a":1}' });
    const again = newEvent({ eventId: 'message-1', eventType: 'b', eventData: '{}', idempotencyKey: 'k' });

    expect(receivedMessageKey(again)).toBe(receivedMessageKey(first));
    expect(again.id).not.toBe(first.id);
  });

  it('differs for other messages', () => {
    const keys = ['message-1', 'message-2', 'MESSAGE-1', 'message-1 '].map((eventId) =>
      receivedMessageKey(newEvent({ eventId })),
    );

    expect(new Set(keys).size).toBe(4);
  });

  it('is the same for requests with the same idempotency key', () => {
    const keys = ['one', 'one', 'two'].map((idempotencyKey) =>
      receivedMessageKey(newEvent({ idempotencyKey })),
    );

    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it('keeps message ids and idempotency keys apart', () => {
    expect(receivedMessageKey(newEvent({ eventId: 'x' }))).not.toBe(receivedMessageKey(newEvent({ idempotencyKey: 'x' }))); // prettier-ignore
  });

  it("is the event's own id when the event has neither, so that a retried batch has the same keys", () => {
    const event = newEvent();

    expect(receivedMessageKey(event)).toBe(event.id);
  });

  it('does not treat the event id of a test event as a platform message id', () => {
    const test = newEvent({ origin: 'test', eventId: 'message-1' });

    expect(receivedMessageKey(test)).toBe(test.id);
  });
});
