import { findChannelKeys } from '@stream-events/sentences';

export type EventData = Record<string, unknown>;

const names = [
  'Mira_Plays',
  'PixelPenguin',
  'LunaLoop',
  'TurboTofu',
  'NordicNell',
  'CosmicCarl',
  'QuietQuokka',
  'ZenZebra',
];
const phrases = [
  'GG!',
  'What a save!',
  'First time here, nice stream',
  'Hello from Lisbon ☕',
  'Let’s go! 🎉',
  'Can we see that again?',
];

/** Fields with text that a user wrote. */
const textFields = new Set(['text', 'message', 'user_input', 'system_message', 'reason', 'description']);

/**
 * Varies the example's users, texts, and numbers. The channel stays, so that the event arrives where the example would.
 *
 * @param random returns a number from 0 to below 1
 */
export function surprise(example: EventData, random: () => number = Math.random): EventData {
  const channelKey = findChannelKeys(example)?.id;
  const pick = (values: readonly string[]): string => values[Math.floor(random() * values.length)] ?? '';
  const varyNumber = (value: number): number =>
    value <= 1 ? value : Math.max(1, Math.round(value * (0.25 + random() * 2)));

  const varyField = (key: string, value: unknown): unknown => {
    if (typeof value === 'string' && textFields.has(key) && value !== '') return pick(phrases);
    if (typeof value === 'number' && Number.isInteger(value)) return varyNumber(value);
    if (Array.isArray(value)) return value.map((each: unknown) => varyField('', each));
    return isObject(value) ? varyObject(value) : value;
  };

  const varyObject = (data: EventData): EventData => {
    const varied = Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, varyField(key, value)]),
    );
    for (const prefix of userPrefixesOf(data, channelKey))
      Object.assign(varied, newUser(prefix, pick(names), random));
    return varied;
  };

  return varyObject(example);
}

/** Returns the field prefixes of all users that the object names by id, login, and name. Excludes the channel. */
function userPrefixesOf(data: EventData, channelKey: string | undefined): string[] {
  return Object.keys(data)
    .filter((key) => key.endsWith('_id') && key !== channelKey)
    .map((key) => key.slice(0, -'_id'.length))
    .filter((prefix) =>
      ['id', 'login', 'name'].every((part) => typeof data[`${prefix}_${part}`] === 'string'),
    );
}

function newUser(prefix: string, name: string, random: () => number): EventData {
  return {
    [`${prefix}_id`]: String(Math.floor(100_000_000 + random() * 900_000_000)),
    [`${prefix}_login`]: name.toLowerCase(),
    [`${prefix}_name`]: name,
  };
}

function isObject(value: unknown): value is EventData {
  return typeof value === 'object' && value !== null;
}
