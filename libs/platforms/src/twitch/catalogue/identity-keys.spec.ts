import {
  eventSubject,
  findNamedUsers,
  identityKeys,
  isJsonObject,
  readEventColumns,
  subjectChannel,
  type JsonObject,
} from '@stream-events/contracts';
import { toEventType } from '../webhook-message.external.js';
import { exampleOf } from './event-examples.js';
import { schemaOf } from './event-schemas.js';
import { eventTypes, type EventType } from './event-types.js';

/** Keys that end with `_id` and identify no person. */
const things = new Set(
  [
    'animation',
    'benefit',
    'campaign',
    'category',
    'client',
    'community_gift',
    'conduit',
    'effect',
    'emote_set',
  ]
    .concat([
      'entitlement',
      'message',
      'organization',
      'outcome',
      'reward',
      'session',
      'set',
      'shard',
      'slot',
    ])
    .concat(['term', 'whisper']),
);
const keysOfThings = new RegExp(`(^|_)(${[...things].join('|')})_id$`);

const keysOfPeople = new Set(
  Object.values(identityKeys)
    .flat()
    .map(({ id }) => id),
);

/** Lists the keys of all objects in a schema, at any depth. */
function keysOf({ properties, items }: JsonObject): string[] {
  const inner = isJsonObject(items) ? keysOf(items) : [];
  if (!isJsonObject(properties)) return inner;
  return Object.entries(properties).flatMap(([key, schema]) => [
    key,
    ...(isJsonObject(schema) ? keysOf(schema) : []),
  ]);
}

function conditionOf(row: EventType): Record<string, string> {
  const keys = [...row.condition, ...row.condition_optional, ...row.condition_exactly_one_of.slice(0, 1)];
  return Object.fromEntries(keys.map((key) => [key, `id of ${key}`]));
}

/** Lists the values of all keys of people, at any depth. */
function peopleIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(peopleIn);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    keysOfPeople.has(key) && typeof inner === 'string' ? [inner] : peopleIn(inner),
  );
}

describe('identity keys', () => {
  it.each(eventTypes)('contain every person that an event of $type, version $version, can name', (row) => {
    const keys = [...keysOf(schemaOf(row)), ...Object.keys(conditionOf(row))];
    const unknown = keys.filter(
      (key) => key.endsWith('_id') && !keysOfPeople.has(key) && !keysOfThings.test(key),
    );
    expect(unknown).toEqual([]);
    // A person has a login, a thing has none.
    const logins = keys.filter((key) => key.endsWith('_login')).map((key) => key.replace(/login$/, 'id'));
    expect(logins.filter((key) => !keysOfPeople.has(key))).toEqual([]);
  });

  it.each(eventTypes)('find the people of the example of $type, version $version', (row) => {
    const example = exampleOf(row);
    const eventType = toEventType(row.type);
    const text = JSON.stringify(example);
    expect(findNamedUsers(text).map(({ id }) => id)).toEqual(peopleIn(example));

    const columns = readEventColumns(eventType, text);
    const channel =
      example.broadcaster_user_id ?? example.broadcaster_id ?? example.to_broadcaster_user_id ?? null;
    const isRaid = row.type === 'channel.raid';
    expect(columns.broadcasterUserId).toBe(isRaid ? null : channel);
    expect(columns.raidToId).toBe(isRaid ? channel : null);
    expect(columns.raidFromId).toBe(isRaid ? example.from_broadcaster_user_id : null);
    expect(eventSubject('platform', eventType, subjectChannel(columns))).toBe(
      `events.platform.${eventType}.${String(channel ?? '_')}`,
    );
  });

  it.each(eventTypes)('find the people in the condition of $type, version $version', (row) => {
    const condition = conditionOf(row);
    const text = JSON.stringify({ type: row.type, condition });
    expect(findNamedUsers(text).map(({ id }) => id)).toEqual(peopleIn(condition));

    const { broadcasterUserId, userId } = readEventColumns('subscription-revocation', text);
    const channel =
      condition.broadcaster_user_id ??
      condition.to_broadcaster_user_id ??
      condition.from_broadcaster_user_id ??
      condition.user_id ??
      null;
    expect(broadcasterUserId).toBe(channel);
    expect(userId).toBeNull();
  });
});
