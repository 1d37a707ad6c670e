import { LiveEvent } from './live-event.js';
import { PageCache } from './page-cache.js';

function page(recordBytes: number) {
  const event = new LiveEvent('id', Buffer.alloc(recordBytes), '0ddba115', 1);
  return { events: [event], firstSequence: 1, lastSequence: 128 };
}

describe(PageCache.name, () => {
  it('keeps the most recently used pages, up to its limit', () => {
    const cache = new PageCache(40_000);
    for (const key of ['a', 'b', 'c']) cache.set(key, page(10_000));
    expect(cache.get('a')).toBeDefined();

    cache.set('d', page(10_000));

    expect(['a', 'b', 'c', 'd'].filter((key) => cache.get(key))).toEqual(['a', 'c', 'd']);
  });

  it('counts empty pages', () => {
    const cache = new PageCache(10_240);
    for (let index = 0; index < 1_000; index += 1)
      cache.set(String(index), { events: [], firstSequence: 1, lastSequence: 128 });

    expect(cache.size).toBe(10);
  });

  it('counts a replaced page once, and keeps a page that is too large until the next one', () => {
    const cache = new PageCache(20_000);
    for (let index = 0; index < 10; index += 1) cache.set('a', page(10_000));
    expect(cache.get('a')).toBeDefined();

    cache.set('b', page(30_000));
    expect(['a', 'b'].filter((key) => cache.get(key))).toEqual(['b']);

    cache.set('c', page(10_000));
    expect(['a', 'b', 'c'].filter((key) => cache.get(key))).toEqual(['c']);
  });
});
