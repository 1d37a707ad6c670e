import { readRevocation } from './revocation.external.js';

const record = {
  id: '0190…',
  event_id: 'e',
  event_type: 'subscription-revocation',
  origin: 'platform',
  event_data: { id: 'a', status: 'user_removed', type: 'stream.online' },
};

describe('readRevocation', () => {
  it('reads the revoked subscription and the reason', () => {
    expect(readRevocation(JSON.stringify(record))).toEqual({ subscriptionId: 'a', status: 'user_removed' });
  });

  it.each([
    ['a client added', { event_id: null }],
    ['is a test event', { origin: 'test' }],
    ['has another type', { event_type: 'channel-raid' }],
    ['names no subscription', { event_data: { status: 'x' } }],
    ['gives no status', { event_data: { id: 'x' } }],
    ['has no data', { event_data: null }],
  ])('ignores an event that %s', (_name, overrides) => {
    expect(readRevocation(JSON.stringify({ ...record, ...overrides }))).toBeUndefined();
  });

  it('reads escaped names in the data correctly, whatever was read before (nodejs/node#63785)', () => {
    const { event_data: _data, ...rest } = record;
    const withData = (data: string): string => `${JSON.stringify(rest).slice(0, -1)},"event_data":${data}}`;
    // This name has the same length as `status` and begins like the escaped name. Node 24 confuses the two.
    readRevocation(withData('{"id":"b","s\\\\u007":1}'));

    expect(readRevocation(withData('{"id":"a","s\\u0074atus":"user_removed"}'))).toEqual({
      subscriptionId: 'a',
      status: 'user_removed',
    });
  });

  it.each(['', '{', 'null', '[]'])('ignores the message %j', (payload) => {
    expect(readRevocation(payload)).toBeUndefined();
  });
});
