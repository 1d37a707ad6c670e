import { anyCharacter, nearJson } from '@stream-events/testing';
import fc from 'fast-check';
import { ServiceError } from '../errors.js';
import { parseIngestMessage, printIngestMessage } from './ingest-message.js';
import type { NewEvent } from './new-event.js';

const valid: NewEvent = {
  id: '018df751-3003-7abc-8def-0123456789ab',
  eventId: 'message-1',
  eventType: 'channel-follow',
  eventSource: 'PlatformSub',
  origin: 'platform',
  eventData: '{}',
  idempotencyKey: null,
};

describe(parseIngestMessage.name, () => {
  it('parses every printed event, with any event data', () => {
    const data = fc
      .string({ unit: anyCharacter })
      .map((text) => JSON.stringify({ text: text.toWellFormed() }));
    fc.assert(
      fc.property(data, (eventData) => {
        const event = { ...valid, eventData };
        expect(parseIngestMessage(Buffer.from(printIngestMessage(event)))).toEqual(event);
      }),
    );
  });

  it('either reads a message, or throws one of its documented errors', () => {
    // Compare by name: under Jest, Node's own errors have other classes.
    const documented = ['ServiceError', 'TypeError', 'SyntaxError'];
    fc.assert(
      fc.property(nearJson({ ...valid }), (message) => {
        let event: NewEvent;
        try {
          event = parseIngestMessage(Buffer.from(message));
        } catch (error) {
          expect(documented).toContain((error as Error).name); // Safe cast: anything else fails the expectation
          return;
        }
        expect(parseIngestMessage(Buffer.from(printIngestMessage(event)))).toEqual(event);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['nothing', ''],
    ['no JSON', 'x'],
    ['no object', '[]'],
    ['no event', '{}'],
    ['an event without a field', JSON.stringify({ ...valid, eventData: undefined })],
    ['an event with a wrong id', JSON.stringify({ ...valid, id: 'x' })],
    ['bytes that are not UTF-8', Buffer.from(JSON.stringify({ ...valid, eventId: 'é' }), 'latin1')],
  ])('rejects %s with a reason', (_what, payload) => {
    expect(() => parseIngestMessage(Buffer.from(payload))).toThrow(/./);
  });

  it('names the invalid field', () => {
    expect(() => parseIngestMessage(Buffer.from('{}'))).toThrow(ServiceError);
    expect(() => parseIngestMessage(Buffer.from('{}'))).toThrow(/^event\.id: must be a UUIDv7$/);
  });
});
