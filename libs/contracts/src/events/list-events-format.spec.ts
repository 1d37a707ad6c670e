import { ServiceError } from '../errors.js';
import { listEventsFormat } from './list-events-format.js';
import type { ListEventsReply } from './read-events.contract.js';

const position = {
  direction: 'older',
  id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  inclusive: false,
} as const;
const records = Buffer.from('[{"id":null,"text":"ü"}]');
const noRecords = Buffer.alloc(0);
const event = {
  id: position.id,
  eventId: null,
  eventType: 'raid ü "',
  eventSource: 'PlatformSub',
  origin: 'platform' as const,
  eventData: '{"a" : 1e400}',
  occurredAt: 17,
};

describe('listEventsFormat', () => {
  it.each<[string, ListEventsReply]>([
    ['an empty page', { events: [], records: noRecords, next: null, previous: null }],
    ['records', { events: [], records, next: position, previous: null }],
    [
      'events',
      {
        events: [event],
        records: noRecords,
        next: position,
        previous: { ...position, direction: 'newer', inclusive: true },
      },
    ],
  ])('parses what it printed: %s', (_, reply) => {
    expect(listEventsFormat.parse(listEventsFormat.print(reply))).toEqual(reply);
  });

  it('reads a message that is part of a larger buffer', () => {
    const printed = listEventsFormat.print({
      events: [event],
      records: noRecords,
      next: null,
      previous: null,
    });
    const buffer = Buffer.concat([Buffer.from('before'), printed]);

    expect(listEventsFormat.parse(buffer.subarray(6)).events).toEqual([event]);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a length beyond the end', Buffer.from([0, 0, 1, 0, 0x7b, 0x7d])],
    ['no JSON', withHead('{')],
    ['no object', withHead('[]')],
    ['no events', withHead('{"next":null,"previous":null}')],
    ['an event of another shape', withHead('{"events":[{"id":1}],"next":null,"previous":null}')],
    ['a position of another shape', withHead('{"events":[],"next":{"id":"x"},"previous":null}')],
    ['no position', withHead('{"events":[]}')],
  ])('rejects a malformed message: %s', (_, bytes) => {
    expect(() => listEventsFormat.parse(bytes)).toThrow(ServiceError);
  });
});

function withHead(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}
