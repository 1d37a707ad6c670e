import { AcknowledgedEvents, findMissing } from './acknowledged-events.js';

const follow = { event_type: 'channel-follow', user_name: 'Viewer_1' };

function pageOf(ids: readonly (string | null)[], next: string | null): Buffer {
  return Buffer.from(JSON.stringify({ next, previous: null, results: ids.map((id) => ({ id })) }));
}

describe(AcknowledgedEvents.name, () => {
  it('expects the five newest events that match the query, ignoring case', () => {
    const events = new AcknowledgedEvents([
      {},
      { user_name: 'vIEWER_1', page_size: '50' },
      { origin: 'test' },
    ]);
    for (const id of ['f', 'a', 'b', 'c', 'd', 'e']) events.note(id, follow);
    events.note('z', { event_type: 'channel-follow', user_name: 'Viewer_2' });

    expect(events.expectedOn(0)).toEqual(['c', 'd', 'e', 'f', 'z']);
    expect(events.expectedOn(1)).toEqual(['b', 'c', 'd', 'e', 'f']);
    expect(events.expectedOn(2)).toEqual([]);
  });
});

describe(findMissing.name, () => {
  it('finds nothing when the page contains all expected events', () => {
    expect(findMissing(pageOf(['c', 'b', 'a'], null), ['a', 'c'])).toEqual([]);
  });

  it('finds an event that is newer than the end of the page', () => {
    expect(findMissing(pageOf(['d', 'b', null], 'more'), ['a', 'c', 'd'])).toEqual(['c']);
  });

  it('finds every event that the last page lacks', () => {
    expect(findMissing(pageOf(['d', 'c'], null), ['b', 'c'])).toEqual(['b']);
    expect(findMissing(pageOf([], 'more'), ['b'])).toEqual(['b']);
  });

  it('does not miss an event that newer events pushed off the page', () => {
    expect(findMissing(pageOf(['d', 'c'], 'more'), ['b'])).toEqual([]);
  });
});
