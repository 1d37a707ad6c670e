import { eventIndexes, indexDefinition } from './event-indexes.js';

describe('eventIndexes', () => {
  it('have names of their own', () => {
    const names = eventIndexes.map(({ name }) => name);

    expect(new Set(names).size).toBe(names.length);
  });

  it('have names that PostgreSQL does not cut off', () => {
    for (const { name } of eventIndexes) expect(name.length).toBeLessThanOrEqual(63);
  });
});

describe(indexDefinition.name, () => {
  it.each([
    ['events_pkey', 'USING btree (id)'],
    ['events_event_type_index', 'USING btree (event_type, id)'],
    ['events_user_id_event_type_index', 'USING btree (user_id, event_type, id) WHERE user_id IS NOT NULL'],
    ['events_event_id_hash_index', 'USING hash (event_id) WHERE event_id IS NOT NULL'],
    ['events_origin_event_type_index', "USING btree (origin, event_type, id) WHERE origin <> 'platform'"],
  ])('prints %s', (indexName, definition) => {
    expect(eventIndexes.filter(({ name }) => name === indexName).map(indexDefinition)).toEqual([definition]);
  });
});
