import { RecentIds } from './recent-ids.js';

function idsOf(capacity: number, ...added: string[]): RecentIds {
  const ids = new RecentIds(capacity);
  for (const id of added) ids.add(id);
  return ids;
}

describe(RecentIds.name, () => {
  it('keeps the newest ids, up to its capacity', () => {
    const ids = idsOf(3, 'a', 'b', 'c', 'd', 'e');

    expect(['a', 'b', 'c', 'd', 'e'].filter((id) => ids.has(id))).toEqual(['c', 'd', 'e']);
  });

  it('returns the oldest id that it keeps', () => {
    expect(idsOf(3).oldest).toBeUndefined();
    expect(idsOf(3, 'a', 'b').oldest).toBe('a');
    expect(idsOf(3, 'a', 'b', 'c').oldest).toBe('a');
    expect(idsOf(3, 'a', 'b', 'c', 'd').oldest).toBe('b');
  });

  it('starts with the ids of another instance, and drops those first, in order', () => {
    const ids = new RecentIds(3, idsOf(3, 'a', 'b', 'c', 'd'));
    ids.add('e');

    expect(ids.oldest).toBe('c');
    expect(['b', 'c', 'd', 'e'].filter((id) => ids.has(id))).toEqual(['c', 'd', 'e']);
  });
});
