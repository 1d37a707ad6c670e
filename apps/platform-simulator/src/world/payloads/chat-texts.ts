import type { Person } from '../population.js';
import type { Random } from '../random.js';

/** The fragments of a chat message as the platform splits it (docs/platform-facts.md §5.2). */
export interface ChatText {
  text: string;
  fragments: Record<string, unknown>[];
}

interface EmotePlace {
  id: string;
  /** Positions of the first and the last character. */
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

/** A chat message: plain text, sometimes with an emote or a mention. */
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

/** A message with a cheer: the amount is part of the text. */
export function createCheerText(random: Random): ChatText & { bits: number } {
  const bits = random.pick(cheerAmounts);
  const cheermote = { prefix: 'cheer', bits, tier: cheermoteTier(bits) };
  const fragments = [
    { ...textFragment(`Cheer${bits}`), type: 'cheermote', cheermote },
    textFragment(random.pick(phrases)),
  ];
  return { ...joinFragments(fragments), bits };
}

/** A text without mentions, for held messages. Its emotes have fewer details than in chat messages. */
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

/** A text that AutoMod holds for review. */
export function createHeldText(random: Random): ChatText {
  return createPlainText(random, ['id', 'emote_set_id']);
}

/** A text with the positions of its emotes, in the format of older types. */
export function createTextWithEmotes(random: Random): { text: string; emotes: EmotePlace[] } {
  const phrase = random.pick(phrases);
  if (!random.chance(0.4)) return { text: phrase, emotes: [] };
  const { id, name } = random.pick(emotes);
  const begin = phrase.length + 1;
  return { text: `${phrase} ${name}`, emotes: [{ id, begin, end: begin + name.length - 1 }] };
}

/** A random emote of the platform. */
export function pickEmote(random: Random): { id: string; name: string } {
  return random.pick(emotes);
}

/** A random phrase for texts that viewers write. */
export function createPhrase(random: Random): string {
  return random.pick(phrases);
}

// The tiers of a cheermote start at these amounts.
function cheermoteTier(bits: number): number {
  return [1_000, 100, 1].find((tier) => bits >= tier) ?? 1;
}

function textFragment(text: string): Fragment {
  return { type: 'text', text, cheermote: null, emote: null, mention: null };
}

/** Puts spaces between the fragments. On the platform, the spaces are part of the text fragments. */
function joinFragments(fragments: Fragment[]): ChatText {
  const joined = fragments.flatMap((fragment, index) =>
    index === 0 ? [fragment] : [textFragment(' '), fragment],
  );
  return { text: joined.map((fragment) => fragment.text).join(''), fragments: joined };
}
