import { eventTypes, schemaOf, type EventType } from '@stream-events/platforms';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createCondition } from '../../subscriptions/event-type.js';
import { World } from '../world.js';
import { buildEvent } from './build-event.js';

const now = new Date('2026-08-02T20:00:00.000Z');

// Many fields are random, so build several events of each type in several worlds.
const worlds = Array.from({ length: 25 }, (_, index) => new World(`seed ${index}`));
const eventsOfEach = 12;

function createEvents({ type, version }: EventType): Record<string, unknown>[] {
  return worlds.flatMap((world) => {
    const broadcasterId = world.channels[0]!.broadcaster.id;
    const request = { type, version, broadcasterId };
    return Array.from({ length: eventsOfEach }, () => world.describeEvent(request, now).event);
  });
}

/** Lists the differences between an event and its type's fields. */
function findFaults(event: Record<string, unknown>, fields: Record<string, string>): string[] {
  const unknown = Object.keys(event).filter((field) => fields[field] === undefined);
  const wrong = Object.entries(fields).filter(([field, kind]) => !fits(event[field], kind));
  return [
    ...unknown.map((field) => `${field} is unknown`),
    ...wrong.map(([field, kind]) => `${field} is not ${kind}: ${JSON.stringify(event[field])}`),
  ];
}

/**
 * Whether a value fits the catalogue's notation: `string`, `object[]|null`, `boolean?|null`.
 */
function fits(value: unknown, kind: string): boolean {
  if (value === undefined) return kind.includes('?');
  if (value === null) return kind.endsWith('|null');
  const base = kind.replace('|null', '').replace('?', '');
  if (base.endsWith('[]')) {
    return Array.isArray(value) && value.every((item) => fits(item, base.slice(0, -2)));
  }
  if (base === 'integer') return Number.isSafeInteger(value);
  return typeof value === base && !Array.isArray(value);
}

/** Forbids additional fields in a schema. Real schemas allow them, but this test must find fields that the schema lacks. */
function closeObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeObjects);
  if (typeof schema !== 'object' || schema === null) return schema;
  const closed = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closeObjects(value)]),
  );
  return 'properties' in closed && 'required' in closed ? { ...closed, additionalProperties: false } : closed;
}

function batch({ type }: EventType, event: Record<string, unknown>): object {
  return type === 'drop.entitlement.grant' ? { events: [event] } : event;
}

describe(buildEvent.name, () => {
  it.each(eventTypes.map((row) => [`${row.type} version ${row.version}`, row] as const))(
    'builds valid events of %s',
    (_, row) => {
      // A single assertion: one per event took most of the unit tests' time.
      const faults = createEvents(row).flatMap((event) =>
        findFaults(event, row.fields).map((fault) => `${fault} in ${JSON.stringify(event)}`),
      );
      expect(faults).toEqual([]);
    },
  );

  it.each(eventTypes.map((row) => [`${row.type} version ${row.version}`, row] as const))(
    'builds events that the schema of %s describes completely',
    (_, row) => {
      const schema = schemaOf(row);
      const validate = new Ajv2020({ allErrors: true }).compile(closeObjects(schema) as object); // Safe cast: a schema is an object.
      const faults = createEvents(row).flatMap((event) =>
        validate(batch(row, event))
          ? []
          : (validate.errors ?? []).map(({ instancePath, message, params }) =>
              [instancePath, message, JSON.stringify(params)].join(' '),
            ),
      );
      expect([...new Set(faults)]).toEqual([]);
    },
  );

  it('builds events that match the condition of a subscription', () => {
    const world = new World('seed');
    const ask = (type: string, condition: Record<string, string>): Record<string, unknown> =>
      world.describeEvent({ type, broadcasterId: '7', condition }, now).event;
    expect(ask('channel.raid', { from_broadcaster_user_id: '7' })).toMatchObject({
      from_broadcaster_user_id: '7',
    });
    expect(ask('channel.raid', { to_broadcaster_user_id: '7' })).toMatchObject({
      to_broadcaster_user_id: '7',
    });
    expect(ask('user.update', { user_id: '8' })).toMatchObject({ user_id: '8' });
    expect(ask('user.whisper.message', { user_id: '8' })).toMatchObject({ to_user_id: '8' });
    expect(ask('user.authorization.grant', { client_id: 'c' })).toMatchObject({ client_id: 'c' });
    const reward = 'channel.channel_points_custom_reward_redemption.add';
    expect(ask(reward, { reward_id: 'r' })).toMatchObject({ reward: { id: 'r' } });
  });

  it('builds an event for a condition of every type', () => {
    const world = new World('seed');
    for (const row of eventTypes) {
      const { type, version } = row;
      const condition = createCondition(row, '7');
      const { event } = world.describeEvent({ type, version, broadcasterId: '7', condition }, now);
      expect({ type, faults: findFaults(event, row.fields) }).toEqual({ type, faults: [] });
    }
  });

  it('fills only the detail that belongs to the type of a chat notice', () => {
    const row = eventTypes.find(({ type }) => type === 'channel.chat.notification')!;
    const others = ['badges', 'message', 'source_badges'];
    const details = Object.entries(row.fields).flatMap(([field, kind]) =>
      kind.startsWith('object') && !others.includes(field) ? [field] : [],
    );
    const notices = createEvents(row);
    for (const notice of notices) {
      expect(details.filter((detail) => notice[detail] !== null)).toEqual([notice.notice_type]);
    }
    expect(new Set(notices.map(({ notice_type }) => notice_type)).size).toBeGreaterThan(20);
  });

  it('sends announcements without a system message, and no forms that client libraries do not know', () => {
    const row = eventTypes.find(({ type }) => type === 'channel.chat.notification')!;
    const notices = createEvents(row);
    const silent = notices.filter(({ system_message }) => system_message === '');
    const types = new Set(silent.map(({ notice_type }) => notice_type));
    expect(types).toEqual(new Set(['announcement', 'shared_chat_announcement']));
    const unknown = ['unraid', 'bits_badge_tier', 'charity_donation', 'watch_streak', 'modiversary'];
    for (const kind of unknown)
      expect(notices.map(({ notice_type }) => notice_type)).not.toContain(`shared_chat_${kind}`);
  });

  it.each(['1', '2'])('fills at most one detail of a moderation action, version %s', (version) => {
    const row = eventTypes.find(
      (candidate) => candidate.type === 'channel.moderate' && candidate.version === version,
    )!;
    const actions = new Set<unknown>();
    for (const event of createEvents(row)) {
      const filled = Object.keys(row.fields).filter(
        (field) => row.fields[field] === 'object|null' && event[field] !== null,
      );
      expect(filled.length).toBeLessThanOrEqual(1);
      actions.add(event.action);
    }
    expect(actions.has('warn')).toBe(version === '2');
  });
});
