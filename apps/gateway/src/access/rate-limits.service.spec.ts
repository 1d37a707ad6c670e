import { userOf, withNamedToken } from '../../test/limited-callers.js';
import type { LimitedCaller } from './caller.js';
import { RateLimits, type RateLimitHeaders } from './rate-limits.service.js';

describe(RateLimits.name, () => {
  let now = 0;
  let headers: RateLimitHeaders | undefined;

  const create = (requests = 5, writes = 2): RateLimits => {
    now = 1_000;
    headers = undefined;
    return new RateLimits({ RATE_LIMIT_REQUESTS: requests, RATE_LIMIT_WRITES: writes }, () => now);
  };

  /** Sends requests and returns how many are allowed. */
  const send = (
    limits: RateLimits,
    count: number,
    {
      caller = userOf('ada'),
      method = 'GET',
      bodyBytes = 0,
    }: { caller?: LimitedCaller; method?: string; bodyBytes?: number | 'unknown' } = {},
  ): number => {
    let passed = 0;
    for (let request = 0; request < count; request += 1) {
      try {
        limits.take(
          caller,
          { method, bodyBytes: bodyBytes === 'unknown' ? undefined : bodyBytes },
          (reported) => {
            headers = reported;
          },
        );
        passed += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: 'too_many_requests', retryAfterSeconds: 1 });
      }
    }
    return passed;
  };

  it('lets a user send the limit at once, and then its rate', () => {
    const limits = create();

    expect(send(limits, 20)).toBe(5);
    now += 200;
    expect(send(limits, 20)).toBe(1);
    now += 10_000;
    expect(send(limits, 20)).toBe(5);
  });

  it('limits each user alone', () => {
    const limits = create();
    send(limits, 20);

    expect(send(limits, 20, { caller: userOf('bob') })).toBe(5);
  });

  it('limits writes more strictly, and counts them as requests', () => {
    const limits = create();

    expect(send(limits, 20, { method: 'POST' })).toBe(2);
    // Refused writes do not count, so the user can still read.
    expect(send(limits, 20)).toBe(3);
  });

  it('counts a write as one more for each full 16 KiB of its body, and as the largest one if its size is unknown', () => {
    const limits = create(1_000, 20);
    expect(send(limits, 20, { method: 'POST', bodyBytes: 40_000 })).toBe(6);
    expect(send(limits, 20, { method: 'POST', bodyBytes: 'unknown', caller: userOf('bob') })).toBe(1);
    expect(send(create(1_000, 2), 20, { method: 'POST', bodyBytes: 256 * 1024 })).toBe(1);
  });

  it('reports the limits and what is left, also when it refuses', () => {
    const limits = create();
    send(limits, 1, { method: 'PATCH' });
    expect(headers).toEqual({
      'RateLimit-Policy': '"default";q=5;w=1, "writes";q=2;w=1',
      RateLimit: '"default";r=4;t=1, "writes";r=1;t=1',
    });
    send(limits, 1);
    expect(headers).toEqual({ 'RateLimit-Policy': '"default";q=5;w=1', RateLimit: '"default";r=3;t=1' });
    send(limits, 20);
    expect(headers?.RateLimit).toBe('"default";r=0;t=1');
  });

  it('leaves half of the limits to the user of a named token', () => {
    const limits = create(10, 4);
    const leaked = withNamedToken('ada');
    expect(send(limits, 50, { caller: leaked, method: 'DELETE' })).toBe(2);
    expect(send(limits, 50, { caller: leaked })).toBe(3);
    expect(headers).toEqual({ 'RateLimit-Policy': '"default";q=5;w=1', RateLimit: '"default";r=0;t=1' });

    expect(send(limits, 50, { method: 'DELETE' })).toBe(2);
    expect(send(limits, 50)).toBe(3);
    now += 1_000;
    expect(send(limits, 50, { caller: leaked })).toBe(5);
    expect(send(limits, 50)).toBe(5);
  });

  it('lets a named token send the largest body without using up the writes of its user', () => {
    const limits = create(1_000, 20);
    const bodyBytes = 256 * 1024;
    expect(send(limits, 5, { caller: withNamedToken('ada'), method: 'POST', bodyBytes })).toBe(1);

    expect(send(limits, 50, { method: 'POST' })).toBe(10);
  });

  it('has no limit and no headers at 0', () => {
    expect(send(create(0, 0), 1_000, { method: 'POST' })).toBe(1_000);
    expect(headers).toBeUndefined();
  });

  it('forgets idle users', () => {
    const limits = create(1, 0);
    for (let user = 0; user <= 10_000; user += 1) send(limits, 1, { caller: userOf(`user ${user}`) });
    now += 1_000;
    send(limits, 1, { caller: userOf('another user') });

    // Safe cast: forgetting shows only in memory, because an idle user has the whole allowance again.
    const { requests } = limits as unknown as { requests: { allowances: Map<string, unknown> } };
    expect([...requests.allowances.keys()]).toEqual(['another user']);
  });
});
