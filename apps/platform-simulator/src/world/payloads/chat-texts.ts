import type { Person } from '../population.js';
import type { Random } from '../random.js';

/** A chat message, split into fragments as on the platform (FACTS.md §5.1). */
export interface ChatText {
  text: string;
  fragments: Record<string, unknown>[];
}

interface EmotePlace {
  id: string;
  /** Positions of the emote's first and last character. */
  begin: number;
  end: number;
}

type Fragment = { text: string } & Record<string, unknown>;

const fullEmoteKeys = ['id', 'emote_set_id', 'owner_id', 'format'];

const phrases = [
  'hello everyone',
  'that was close!',
  'how long have you been live?',
  'this song is great',
  'GG 🎉',
  'can you explain that again please?',
  'first time here, nice stream',
  '¡qué bonito!',
  'das war stark',
];

const emotes = [
  { id: '25', name: 'Kappa' },
  { id: '305954156', name: 'PogChamp' },
  { id: '425618', name: 'LUL' },
];

const cheerAmounts = [1, 10, 50, 100, 250, 500, 1_000];

/** Plain text, sometimes with an emote or a mention. */
export function createChatText(random: Random, someone: Person): ChatText {
  const fragments = [textFragment(random.pick(phrases))];
  if (random.chance(0.2)) {
    fragments.unshift({
      ...textFragment(`@${someone.name}`),
      type: 'mention',
      mention: { user_id: someone.id, user_login: someone.login, user_name: someone.name },
    });
  }
  if (random.chance(0.3)) {
    const { id, name } = random.pick(emotes);
    const emote = { id, emote_set_id: '0', owner_id: '0', format: ['static'] };
    fragments.push({ ...textFragment(name), type: 'emote', emote });
  }
  return joinFragments(fragments);
}

/** A chat message whose text contains the amount of a cheer. */
export function createCheerText(random: Random): ChatText & { bits: number } {
  const bits = random.pick(cheerAmounts);
  const cheermote = { prefix: 'cheer', bits, tier: cheermoteTier(bits) };
  const fragments = [
    { ...textFragment(`Cheer${bits}`), type: 'cheermote', cheermote },
    textFragment(random.pick(phrases)),
  ];
  return { ...joinFragments(fragments), bits };
}

/** Text whose fragments lack the field `mention`, for held messages and rewards. Its emotes have only the fields in `emoteKeys`. */
export function createPlainText(random: Random, emoteKeys: readonly string[] = fullEmoteKeys): ChatText {
  const fragments: Fragment[] = [textFragment(`${random.pick(phrases)} `)];
  if (random.chance(0.4)) {
    const { id, name } = random.pick(emotes);
    const whole: Record<string, unknown> = { id, emote_set_id: '0', owner_id: '0', format: ['static'] };
    const emote = Object.fromEntries(emoteKeys.map((key) => [key, whole[key]]));
    fragments.push({ ...textFragment(name), type: 'emote', emote });
  }
  return {
    text: fragments.map(({ text }) => text).join(''),
    fragments: fragments.map(({ mention: _mention, ...fragment }) => fragment),
  };
}

/** Text that AutoMod holds for review. Its emotes have fewer fields than in chat. */
export function createHeldText(random: Random): ChatText {
  return createPlainText(random, ['id', 'emote_set_id']);
}

/** Text with the positions of its emotes, which is the format of older event types. */
export function createTextWithEmotes(random: Random): { text: string; emotes: EmotePlace[] } {
  const phrase = random.pick(phrases);
  if (!random.chance(0.4)) return { text: phrase, emotes: [] };
  const { id, name } = random.pick(emotes);
  const begin = phrase.length + 1;
  return { text: `${phrase} ${name}`, emotes: [{ id, begin, end: begin + name.length - 1 }] };
}

export function pickEmote(random: Random): { id: string; name: string } {
  return random.pick(emotes);
}

/** A phrase as a viewer would write it. */
export function createPhrase(random: Random): string {
  return random.pick(phrases);
}

// Each cheermote tier starts at one of these amounts.
function cheermoteTier(bits: number): number {
  return [1_000, 100, 1].find((tier) => bits >= tier) ?? 1;
}

function textFragment(text: string): Fragment {
  return { type: 'text', text, cheermote: null, emote: null, mention: null };
}

/** Adds a text fragment with a space between the fragments. On the platform, too, spaces are in text fragments. */
function joinFragments(fragments: Fragment[]): ChatText {
  const joined = fragments.flatMap((fragment, index) =>
    index === 0 ? [fragment] : [textFragment(' '), fragment],
  );
  return { text: joined.map((fragment) => fragment.text).join(''), fragments: joined };
}
