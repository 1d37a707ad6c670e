import { printEventRecord } from '@stream-events/contracts';
import { isRecord, readDelivery, readSentAt } from './read-delivery.js';

const record = (origin: 'platform' | 'test'): string =>
  printEventRecord({
    id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
    eventId: 'message-1',
    eventType: 'channel-follow',
    eventSource: 'test',
    origin,
    eventData: '{"marker":"0a1b2c3d-417","sent_us":123456789012,"message":"-\\"position\\":\\"x"}',
  });

/** Puts a record between other bytes, as in a socket's buffer. */
function place(text: string): { bytes: Buffer; start: number; end: number } {
  const before = Buffer.from('{"id":"x","sent_us":7,"position":"ffffffff-1-ffffffff"}');
  const bytes = Buffer.concat([before, Buffer.from(text), before]);
  return { bytes, start: before.length, end: bytes.length - before.length };
}

describe(readDelivery.name, () => {
  it.each([
    ['platform', 'deadbeef-1-6a1f0c11', 1],
    ['test', 'deadbeef-9007199254740991-6a1f0c11', 9_007_199_254_740_991],
  ] as const)('reads a record of origin %s with the position %s', (origin, position, sequence) => {
    const { bytes, start, end } = place(`${record(origin).slice(0, -1)},"position":"${position}"}`);

    expect(isRecord(bytes, start)).toBe(true);
    expect(readDelivery(bytes, start, end)).toEqual({
      event: 417,
      sentAt: 123_456_789_012,
      epoch: 'deadbeef',
      sequence,
      check: 0x6a1f0c11,
      position,
    });
    expect(readSentAt(bytes, start)).toBe(123_456_789_012);
  });

  it.each([
    ['without a position', record('platform')],
    ['of another sender', '{"id":"1","event_data":{},"position":"deadbeef-1-6a1f0c11"}'],
  ])('throws on a record %s', (_, text) => {
    const { bytes, start, end } = place(text);

    expect(() => readDelivery(bytes.subarray(0, end), start, end)).toThrow('not a record of a system test');
  });

  it.each(['{"event":"ready"}', '{"event":"gap","reason":"expired"}'])(
    'does not treat %s as a record',
    (text) => {
      expect(isRecord(Buffer.from(text), 0)).toBe(false);
    },
  );
});
