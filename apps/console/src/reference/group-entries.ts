export interface EntryGroup<Entry> {
  title: string;
  entries: readonly Entry[];
}

interface GroupOptions<Entry> {
  /** Words that an entry must contain, in any order. */
  search: string;
  textOf: (entry: Entry) => string;
  groupOf: (entry: Entry) => string;
  limit: number;
}

/** Finds the entries that contain all words. Returns at most `limit` of them, in groups, and the total count. */
export function groupEntries<Entry>(
  entries: readonly Entry[],
  { search, textOf, groupOf, limit }: GroupOptions<Entry>,
): { groups: EntryGroup<Entry>[]; count: number } {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter((entry) => {
    const text = textOf(entry).toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const groups = new Map<string, Entry[]>();
  for (const entry of found.slice(0, limit)) {
    const title = groupOf(entry);
    groups.set(title, [...(groups.get(title) ?? []), entry]);
  }
  const sorted = [...groups].sort(([one], [other]) => one.localeCompare(other));
  return { groups: sorted.map(([title, grouped]) => ({ title, entries: grouped })), count: found.length };
}

/** Returns the ids of entries that share their meaning with another entry. */
export function findDuplicates<Entry extends { id: string }>(
  entries: readonly Entry[],
  meaningOf: (entry: Entry) => string,
): ReadonlySet<string> {
  const ids = new Map<string, string[]>();
  for (const entry of entries) {
    const meaning = meaningOf(entry);
    ids.set(meaning, [...(ids.get(meaning) ?? []), entry.id]);
  }
  return new Set([...ids.values()].filter(({ length }) => length > 1).flat());
}
