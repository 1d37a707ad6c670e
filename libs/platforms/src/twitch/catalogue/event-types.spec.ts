import { eventTypes, findEventType } from './event-types.js';
import { scopes } from './scopes.js';

const key = expect.stringMatching(/^[a-z_]+$/) as unknown as string; // Safe cast: Jest compares the matcher with text.

/** Returns the matcher, repeated once for each value. */
const listOf = (matcher: string, values: readonly string[]): string[] => values.map(() => matcher);

/** Orders versions: numbers first, then `beta`. */
const rank = (version: string): number => (version === 'beta' ? Infinity : Number(version));

describe('event types', () => {
  it('are unique', () => {
    const names = eventTypes.map(({ type, version }) => `${type} ${version}`);
    expect([...new Set(names)]).toEqual(names);
  });

  it.each(eventTypes)('have valid fields: $type, version $version', (row) => {
    expect(row).toEqual({
      type: expect.stringMatching(/^[a-z_]+(\.[a-z_]+)+$/),
      version: expect.stringMatching(/^(\d+|beta)$/),
      condition: listOf(key, row.condition),
      condition_optional: listOf(key, row.condition_optional),
      condition_exactly_one_of: listOf(key, row.condition_exactly_one_of),
      scopes: row.scopes.map((group) => listOf(expect.any(String) as unknown as string, group)), // Safe cast: as above.
      app_token_extra_scopes: listOf(expect.any(String) as unknown as string, row.app_token_extra_scopes),
      transports: expect.arrayContaining(['webhook']),
      description: expect.stringMatching(/^\S.*\S$/),
      fields: expect.any(Object),
      note: row.note === null ? null : expect.stringMatching(/^\S.*\S$/),
      unverified: listOf(expect.stringMatching(/^\S.*\S$/) as unknown as string, row.unverified),
    });
  });

  it.each(eventTypes)('have unique condition keys: $type, version $version', (row) => {
    const keys = [...row.condition, ...row.condition_optional, ...row.condition_exactly_one_of];

    expect(keys).not.toEqual([]);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each(eventTypes)('have fields of known kinds: $type, version $version', ({ fields }) => {
    const kind = /^(string|integer|boolean|object)(\[\])?\??(\|null)?$/;

    expect(Object.keys(fields)).not.toEqual([]);
    expect(
      Object.entries(fields).filter(([name, value]) => !/^[a-z_]+$/.test(name) || !kind.test(value)),
    ).toEqual([]);
  });

  it('use known transports', () => {
    expect([...new Set(eventTypes.flatMap(({ transports }) => transports))].sort()).toEqual([
      'conduit',
      'webhook',
      'websocket',
    ]);
  });

  it('name known scopes, in groups that are not empty', () => {
    const known = new Set(scopes.map(({ scope }) => scope));
    const named = eventTypes.flatMap((row) => [...row.scopes.flat(), ...row.app_token_extra_scopes]);

    expect(named.filter((scope) => !known.has(scope))).toEqual([]);
    expect(eventTypes.flatMap((row) => row.scopes).filter((group) => group.length === 0)).toEqual([]);
  });

  it('are grouped by type, the newest version last', () => {
    eventTypes.forEach(({ type, version }, index) => {
      const later = eventTypes.slice(index + 1).filter((row) => row.type === type);

      expect(later.map((row) => row.type)).toEqual(
        eventTypes.slice(index + 1, index + 1 + later.length).map((row) => row.type),
      );
      for (const row of later) expect(rank(row.version)).toBeGreaterThan(rank(version));
    });
  });
});

describe(findEventType.name, () => {
  it('finds the newest version, or the given one', () => {
    expect(findEventType('automod.message.hold')?.version).toBe('2');
    expect(findEventType('automod.message.hold', '1')?.version).toBe('1');
    expect(findEventType('stream.online')).toMatchObject({ type: 'stream.online', version: '1' });
  });

  it('finds nothing for unknown types and versions', () => {
    expect(findEventType('stream-online')).toBeUndefined();
    expect(findEventType('stream.online', '9')).toBeUndefined();
    expect(findEventType('toString')).toBeUndefined();
  });
});
