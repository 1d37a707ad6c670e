import { readFileSync } from 'node:fs';
import { actorOf, channelOf, describeEvent } from './describe-event.js';
import { sentences } from './event-sentences.js';
import { identityKeys } from './identity-keys.js';

type Data = Record<string, unknown>;

// Read the file directly, because libraries that web pages use must not import the platform's code.
const catalogue = 'libs/platforms/src/twitch/catalogue';
const examples = Object.entries(
  JSON.parse(readFileSync(`${catalogue}/event-examples.json`, 'utf8')) as Record<string, Data>,
);

interface Conditions {
  type: string;
  version: string;
  condition: string[];
  condition_optional: string[];
  condition_exactly_one_of: string[];
}

// In the order of precedence.
const channelKeys = ['broadcaster_user_id', 'to_broadcaster_user_id', 'from_broadcaster_user_id', 'user_id'];
const types = JSON.parse(readFileSync(`${catalogue}/event-types.json`, 'utf8')) as Conditions[];
const conditions = types.map((row) => {
  const keys = [...row.condition, ...row.condition_optional, ...row.condition_exactly_one_of.slice(0, 1)];
  const condition = Object.fromEntries(keys.map((key) => [key, `id of ${key}`]));
  return { name: `${row.type}/${row.version}`, condition, key: channelKeys.find((key) => key in condition) };
});

/** Returns the example as the service stores it. The platform sends drops in batches. */
const toEvent = ([name, example]: [string, Data]) => {
  const event_type = name.slice(0, name.lastIndexOf('/')).replaceAll('.', '-');
  return {
    event_type,
    event_data: event_type === 'drop-entitlement-grant' ? { events: [example] } : example,
  };
};

const print = (event_type: string, event_data: Data): string =>
  describeEvent({ event_type, event_data })
    .map(({ kind, text }) => (kind === 'text' ? `“${text}”` : text))
    .join('');

describe(describeEvent.name, () => {
  it.each(examples.map(toEvent))('describes the example of $event_type with its own sentence', (event) => {
    expect(sentences).toHaveProperty(event.event_type);
    const [first] = describeEvent(event);
    const fallback = describeEvent({ ...event, event_type: 'an-unknown-type' });
    expect(first).toBeDefined();
    expect(describeEvent(event)).not.toEqual(fallback);
    expect(print(event.event_type, event.event_data)).not.toMatch(/[{}[\]]|undefined|NaN/);
  });

  it('has sentences only for the types of the platform, `raid`, and `subscription-revocation`', () => {
    const known = new Set(examples.map((example) => toEvent(example).event_type));
    const extra = Object.keys(sentences).filter((type) => !known.has(type));
    expect(extra).toEqual(['raid', 'subscription-revocation']);
  });

  it('says who did what to whom', () => {
    const raid = { from_broadcaster_user_name: 'Mira', to_broadcaster_user_name: 'Tom', viewers: 1234 };
    expect(print('channel-raid', raid)).toBe(`Mira raided Tom with ${(1234).toLocaleString()} viewers`);
    const cheer = {
      user_id: null,
      user_name: null,
      broadcaster_user_name: 'Tom',
      bits: 5,
      message: 'hi <b>',
    };
    expect(print('channel-cheer', cheer)).toBe('Somebody cheered 5 bits in Tom: “hi <b>”');
    expect(print('channel-cheer', { ...cheer, message: '' })).toBe('Somebody cheered 5 bits in Tom');
  });

  it('uses the singular for one', () => {
    const gift = { user_name: 'Mira', broadcaster_user_name: 'Tom', total: 1 };
    expect(print('channel-subscription-gift', gift)).toBe('Mira gave 1 subscription to Tom');
    expect(print('channel-subscription-gift', { ...gift, total: 0 })).toBe(
      'Mira gave 0 subscriptions to Tom',
    );
    expect(print('drop-entitlement-grant', { events: [{}] })).toBe('The platform granted 1 drop');
  });

  it('shows what users wrote in notices', () => {
    const notice = { chatter_user_name: 'Mira', broadcaster_user_name: 'Tom', notice_type: 'resub' };
    const texts = { system_message: 'Mira subscribed for 5 months!', message: { text: 'five already' } };
    const type = 'channel-chat-notification';
    expect(print(type, { ...notice, ...texts })).toBe(
      'Mira in Tom: “Mira subscribed for 5 months!”: “five already”',
    );
    expect(print(type, { ...notice, system_message: '', message: { text: 'new video' } })).toBe(
      'Mira in Tom: “new video”',
    );
    expect(print(type, { ...notice, notice_type: 'gift_sub_bonus_match', system_message: '' })).toBe(
      'Mira in Tom: gift sub bonus match',
    );
  });

  it('says where a message of a shared chat was written', () => {
    const chat = { chatter_user_name: 'Mira', broadcaster_user_id: '1', broadcaster_user_name: 'Tom' };
    const message = { text: 'hi' };
    const from = (id: string) => ({ source_broadcaster_user_id: id, source_broadcaster_user_name: 'Nell' });
    expect(print('channel-chat-message', { ...chat, ...from('2'), message })).toBe(
      'Mira in Tom, from the chat of Nell: “hi”',
    );
    expect(print('channel-chat-message', { ...chat, ...from('1'), message })).toBe('Mira in Tom: “hi”');
  });

  it('does not call the recipient of a gift a subscriber', () => {
    const subscription = { user_name: 'Rec1', broadcaster_user_name: 'Tom', tier: '1000' };
    expect(print('channel-subscribe', { ...subscription, is_gift: true })).toBe(
      'Rec1 received a gift subscription to Tom (Tier 1)',
    );
    expect(print('channel-subscribe', { ...subscription, is_gift: false })).toBe(
      'Rec1 subscribed to Tom (Tier 1)',
    );
  });

  it('hides the names that the platform gives anonymous users', () => {
    const channel = { broadcaster_user_name: 'Tom' };
    const gift = { ...channel, user_id: null, user_name: null, total: 1, is_anonymous: true };
    expect(print('channel-subscription-gift', gift)).toBe('An anonymous viewer gave 1 subscription to Tom');
    const notice = { ...channel, chatter_user_name: 'AnAnonymousGifter', chatter_is_anonymous: true };
    expect(print('channel-chat-notification', { ...notice, message: { text: 'hi' } })).toBe(
      'An anonymous viewer in Tom: “hi”',
    );
  });

  it('marks names and texts of users', () => {
    const chat = { chatter_user_name: 'Mira', broadcaster_user_name: 'Tom', message: { text: 'hello' } };
    expect(describeEvent({ event_type: 'channel-chat-message', event_data: chat })).toEqual([
      { kind: 'name', text: 'Mira' },
      { kind: 'words', text: ' in ' },
      { kind: 'name', text: 'Tom' },
      { kind: 'words', text: ': ' },
      { kind: 'text', text: 'hello' },
    ]);
  });

  it('describes unknown types, and events that differ from their type', () => {
    expect(print('my-bot_said.hello', { user_name: 'Mira' })).toBe('My bot said hello by Mira');
    expect(print('channel-raid', { viewers: 1 })).toBe('Channel raid');
    expect(print('channel-follow', { user_name: 7, broadcaster_user_name: ['x'] })).toBe('Channel follow');
    expect(print('__proto__', {})).toBe('Proto');
  });
});

describe(channelOf.name, () => {
  it.each(examples)('finds the channel of %s', (_, example) => {
    const prefix = ['broadcaster_user', 'broadcaster', 'to_broadcaster_user'].find(
      (each) => `${each}_id` in example,
    );
    expect(channelOf(example)).toEqual(
      prefix && { id: example[`${prefix}_id`], name: example[`${prefix}_name`] },
    );
  });

  it.each(conditions)('finds the channel in the condition of $name', ({ condition, key }) => {
    const id = key && condition[key];
    expect(channelOf({ condition })).toEqual(id && { id, name: id });
  });

  it('finds the channel in the condition of a revoked subscription', () => {
    const condition = { moderator_user_id: '1', user_id: '2', broadcaster_user_id: '88' };
    expect(channelOf({ condition })).toEqual({ id: '88', name: '88' });
    expect(print('subscription-revocation', { type: 'channel.ban', status: 'user_removed', condition })).toBe(
      'The platform ended the subscription to channel.ban of 88: user removed',
    );
  });
});

describe('sentences', () => {
  it('name users by their roles, so that all forms of the keys are found', () => {
    const roles = ['user', 'channel', 'source', ...Object.keys(identityKeys)];
    const placeholders = Object.values(sentences)
      .flat()
      .flatMap((text) => [...text.matchAll(/\{@([^}]+)\}/g)].map(([, path]) => path));
    expect(new Set(placeholders.filter((path) => !roles.includes(path!)))).toEqual(
      new Set(['host_broadcaster_user_name']),
    );
    const unban = {
      user_name: 'Tom',
      broadcaster_user_name: 'Nell',
      status: 'denied',
      moderator_name: 'Ada',
    };
    expect(print('channel-unban_request-resolve', unban)).toBe(
      'The unban request of Tom in Nell was denied by Ada',
    );
  });
});

describe(actorOf.name, () => {
  it('returns the acting user, otherwise the channel', () => {
    expect(actorOf({ user_name: 'Mira', user_id: '7', broadcaster_user_name: 'Tom' })).toEqual({
      name: 'Mira',
      id: '7',
    });
    expect(actorOf({ user_id: null, broadcaster_user_login: 'tom' })).toEqual({ name: 'tom', id: undefined });
    expect(actorOf({})).toBeUndefined();
  });
});
