import { readFileSync } from 'node:fs';
import { surprise, type EventData } from './surprise.js';

// Read the file directly, because the console must not import the platform's code.
const catalogue = 'libs/platforms/src/twitch/catalogue/event-examples.json';
const examples = Object.entries(JSON.parse(readFileSync(catalogue, 'utf8')) as Record<string, EventData>);

/** Replaces each value by its type. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}

describe(surprise.name, () => {
  it.each(examples)('keeps the shape and the channel of %s', (_type, example) => {
    const varied = surprise(example);
    expect(shapeOf(varied)).toEqual(shapeOf(example));
    expect(varied.broadcaster_user_id).toBe(example.broadcaster_user_id);
    expect(varied.broadcaster_id).toBe(example.broadcaster_id);
  });

  it('changes users, texts, and numbers', () => {
    const cheer = {
      user_id: '1',
      user_login: 'a',
      user_name: 'A',
      broadcaster_user_id: '7',
      bits: 100,
      message: 'hi',
      is_anonymous: false,
    };
    const random = (): number => 0.5;
    expect(surprise(cheer, random)).toEqual({
      user_id: '550000000',
      user_login: 'nordicnell',
      user_name: 'NordicNell',
      broadcaster_user_id: '7',
      bits: 125,
      message: 'Hello from Lisbon ☕',
      is_anonymous: false,
    });
  });
});
