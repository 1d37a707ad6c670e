import { RecentIds } from './recent-ids.js';

function idsOf(capacity: number, ...added: string[]): RecentIds {
  const ids = new RecentIds(capacity);
  for (const id of added) ids.add(id);
  return ids;
}

describe(RecentIds.name, () => {
  it('has the newest, as many as it has room for', () => {
    const ids = idsOf(3, 'a', 'b', 'c', 'd', 'e');

    expect(['a', 'b', 'c', 'd', 'e'].filter((id) => ids.has(id))).toEqual(['c', 'd', 'e']);
  });

  it('knows the oldest of those that it has', () => {
    expect(idsOf(3).oldest).toBeUndefined();
    expect(idsOf(3, 'a', 'b').oldest).toBe('a');
    expect(idsOf(3, 'a', 'b', 'c').oldest).toBe('a');
    expect(idsOf(3, 'a', 'b', 'c', 'd').oldest).toBe('b');
  });

  it('begins with those of another one, which are the first to leave, in their order', () => {
    const ids = new RecentIds(3, idsOf(3, 'a', 'b', 'c', 'd'));
    ids.add('e');

    expect(ids.oldest).toBe('c');
    expect(['b', 'c', 'd', 'e'].filter((id) => ids.has(id))).toEqual(['c', 'd', 'e']);
  });
});
