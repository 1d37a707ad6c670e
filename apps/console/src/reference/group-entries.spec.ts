import { findDuplicates, groupEntries } from './group-entries.js';

const texts = ['user:read:email', 'bits:read', 'user:read:chat', 'bits:read'];
const entries = texts.map((text, index) => ({ id: `${index}`, text }));
const options = {
  textOf: ({ text }: { text: string }) => text,
  groupOf: ({ text }: { text: string }) => text.split(':')[0]!,
};

describe('groupEntries', () => {
  it('sorts groups, and keeps the order within them', () => {
    const { groups, count } = groupEntries(entries, { ...options, search: '', limit: 10 });
    expect(groups.map(({ title, entries: grouped }) => [title, grouped.map(({ id }) => id)])).toEqual([
      ['bits', ['1', '3']],
      ['user', ['0', '2']],
    ]);
    expect(count).toBe(4);
  });

  it('finds entries with all words in any order and case', () => {
    const { groups } = groupEntries(entries, { ...options, search: ' CHAT read ', limit: 10 });
    expect(groups).toEqual([{ title: 'user', entries: [entries[2]] }]);
  });

  it('returns at most the limit, and counts all', () => {
    const { groups, count } = groupEntries(entries, { ...options, search: 'read', limit: 1 });
    expect(groups).toEqual([{ title: 'user', entries: [entries[0]] }]);
    expect(count).toBe(4);
  });
});

describe('findDuplicates', () => {
  it('returns every entry that means the same as another', () => {
    expect(findDuplicates(entries, ({ text }) => text)).toEqual(new Set(['1', '3']));
  });
});
