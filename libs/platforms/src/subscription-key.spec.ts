import { subscriptionKey } from './subscription-key.js';

describe('subscriptionKey', () => {
  it('ignores the order of keys and the empty keys that the platform adds', () => {
    const raid = { type: 'channel.raid', version: '1' };
    expect(subscriptionKey({ ...raid, condition: { a: '1', b: '2' } })).toBe(
      subscriptionKey({ ...raid, condition: { b: '2', from: '', a: '1' } }),
    );
    expect(subscriptionKey({ ...raid, condition: { a: '1' } })).not.toBe(
      subscriptionKey({ ...raid, condition: { b: '1' } }),
    );
  });
});
