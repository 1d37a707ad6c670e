import { readFileSync } from 'node:fs';
import { filterColumns } from '@stream-events/contracts';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { eventIndexes, indexKeys, type EventIndex } from './event-indexes.js';

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
});
afterAll(() => store.close());

/** Returns the names of a table's indexes. For a partition, also returns the index of `events` to which each is attached. */
async function readIndexes(
  table: string,
): Promise<{ name: string; parent: string | null; isValid: boolean }[]> {
  return store.dataSource.query(
    `SELECT indexes.relname AS name, parents.relname AS parent, indisvalid AS "isValid"
     FROM pg_index JOIN pg_class AS indexes ON indexes.oid = indexrelid
       LEFT JOIN pg_inherits ON inhrelid = indexrelid LEFT JOIN pg_class AS parents ON parents.oid = inhparent
     WHERE indrelid = $1::regclass`,
    [table],
  );
}

/** An event for each column of the table in docs/store-indexes.md. */
const kinds = {
  'chat message': newEvent({
    eventId: 'm1',
    eventType: 'channel-chat-message',
    eventData: '{"broadcaster_user_id":"1","chatter_user_id":"2","chatter_user_name":"two"}',
  }),
  follow: newEvent({
    eventId: 'm2',
    eventType: 'channel-follow',
    eventData: '{"broadcaster_user_id":"1","user_id":"2","user_name":"two"}',
  }),
  redemption: newEvent({
    eventId: 'm3',
    eventType: 'channel-channel_points_custom_reward_redemption-add',
    eventData: '{"broadcaster_user_id":"1","user_id":"2","user_name":"two","reward":{"id":"r"}}',
  }),
  raid: newEvent({
    eventId: 'm4',
    eventType: 'channel-raid',
    eventData:
      '{"from_broadcaster_user_id":"2","from_broadcaster_user_name":"two","to_broadcaster_user_id":"1","to_broadcaster_user_name":"one"}',
  }),
  'stream online': newEvent({
    eventId: 'm5',
    eventType: 'stream-online',
    eventData: '{"broadcaster_user_id":"1","broadcaster_user_name":"one"}',
  }),
  'test follow': newEvent({
    eventId: v7(),
    eventType: 'channel-follow',
    eventSource: 'TestCall',
    origin: 'test',
    eventData: '{"broadcaster_user_id":"1","user_id":"2","user_name":"two"}',
  }),
};

/** Returns the names of the indexes that contain the event. */
async function readEntries(id: string): Promise<string[]> {
  const columns = eventIndexes.map(({ name, predicate }) => `${predicate ?? 'true'} AS ${name}`);
  const [row] = await store.dataSource.query<Record<string, boolean>[]>(
    `SELECT ${columns.join(', ')} FROM events WHERE id = $1`,
    [id],
  );
  return eventIndexes.map(({ name }) => name).filter((name) => row?.[name]);
}

interface DocumentedEntries {
  /** Which kinds of events have an entry in each index. */
  indexes: Record<string, { columns: string; kinds: string[] }>;
  /** How many entries each kind of event has. */
  totals: Record<string, number>;
}

/** Reads the first table in docs/store-indexes.md. */
function readDocumentedEntries(): DocumentedEntries {
  const page = readFileSync(new URL('../../../../docs/store-indexes.md', import.meta.url), 'utf8');
  const [section = ''] = page.split('## Queries');
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const header = rows.find(([name]) => name === 'index') ?? [];
  const kindsOfPage = header.slice(2);
  const documented = rows.filter(([name]) => name?.startsWith('`events_'));
  const indexes = documented.map(([name = '', columns = '', ...entries]) => [
    name.replaceAll('`', ''),
    {
      columns: columns.replaceAll('`', ''),
      kinds: kindsOfPage.filter((_, place) => entries[place] === '1'),
    },
  ]);
  const totals = rows.find(([name]) => name === 'entries in all')?.slice(2) ?? [];
  return {
    indexes: Object.fromEntries(indexes) as DocumentedEntries['indexes'], // Safe cast: each element is such a pair.
    totals: Object.fromEntries(kindsOfPage.map((kind, place) => [kind, Number(totals[place])])),
  };
}

describe('eventIndexes', () => {
  it('are exactly the indexes of a store that has no partitions yet', async () => {
    const rows = await readIndexes('events');

    expect(rows.map(({ name }) => name).sort()).toEqual(eventIndexes.map(({ name }) => name).sort());
    expect(rows.every(({ isValid }) => isValid)).toBe(true);
  });

  it('are attached on a new partition', async () => {
    await store.partitions.ensureAhead(Date.UTC(2025, 0));

    const rows = await readIndexes('events_2025_01');

    expect(rows.map(({ parent }) => parent).sort()).toEqual(eventIndexes.map(({ name }) => name).sort());
  });

  it.each(Object.keys(filterColumns))('have one for the filter column %s', (column) => {
    expect(eventIndexes.map((index) => index.column)).toContain(column);
  });
});

describe('docs/store-indexes.md', () => {
  it('names the entries of each kind of event, and a follow has at most 7', async () => {
    await store.writer.store(Object.values(kinds));
    const expected: DocumentedEntries = { indexes: {}, totals: {} };
    for (const index of eventIndexes)
      expected.indexes[index.name] = { columns: describeColumns(index), kinds: [] };

    for (const [kind, { id }] of Object.entries(kinds)) {
      const entries = await readEntries(id);
      expected.totals[kind] = entries.length;
      for (const name of entries) expected.indexes[name]?.kinds.push(kind);
    }

    expect(readDocumentedEntries()).toEqual(expected);
    expect(expected.totals.follow).toBeLessThanOrEqual(7);
  });
});

/** Prints the columns of an index like the page. */
function describeColumns(index: EventIndex): string {
  const method = index.method === 'hash' ? 'hash ' : '';
  const rare = index.predicate?.includes('<>') ? ` where ${index.predicate}` : '';
  return `${method}(${indexKeys(index).join(', ')})${rare}`;
}
