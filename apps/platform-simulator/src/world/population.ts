import type { Stream } from './broadcasts.js';
import { Random } from './random.js';
import type { UserDirectory } from './user-directory.js';

/** A user with an account. The id is fixed; login and name can change. */
export interface Person {
  readonly id: string;
  readonly login: string;
  readonly name: string;
}

export interface Viewer extends Person {
  /** Color of the viewer's name in chat. */
  readonly color: string;
  /** Months subscribed so far; 0 without a subscription. Each resubscription adds one. */
  subscribedMonths: number;
}

export interface Reward {
  readonly id: string;
  readonly title: string;
  readonly cost: number;
  readonly prompt: string;
  readonly needsInput: boolean;
}

export interface Category {
  readonly id: string;
  readonly name: string;
}

/** A channel and its current state, which events change. */
export interface Channel {
  readonly broadcaster: Person;
  readonly moderators: readonly Person[];
  readonly rewards: readonly Reward[];
  readonly language: string;
  title: string;
  category: Category;
  /** Null while the channel is offline. */
  stream: Stream | null;
  /** Newest last. */
  pastStreams: Stream[];
  /** Number of streams so far, including the running one. */
  streamCount: number;
}

// Enough channels for filters by broadcaster to matter. Few enough to keep each busy at one event per second.
const broadcasterNames = [
  'Luna_Plays',
  'PixelForge',
  'CosmicCook',
  'TinyTankard',
  'NordlichtTV',
  'MidnightMelody',
];

const viewerNames = [
  'amber_fox BinaryBard CaptainCrumb dizzy_dolphin EchoEagle frostbyte42 GiddyGoat HazelHush',
  'inky_iguana JollyJinx KiteKnight lemonlynx MossyMole NimbusNine oaky_owl PebblePanda',
  'QuirkyQuail rustyrobot SilentSparrow TealTurtle umbra_unicorn VelvetVole WaveWalrus xeno_xerus',
  'YonderYak ZestyZebra BramblePie CloverClub DuskDrummer fernfriend',
].flatMap((names) => names.split(' '));

const languages = ['en', 'en', 'en', 'de', 'es', 'fr'];
const colors = ['#FF4500', '#2E8B57', '#1E90FF', '#DAA520', '#8A2BE2', '#FF69B4', '#00C7AC', ''];

export const categories: readonly Category[] = [
  { id: '509658', name: 'Just Chatting' },
  { id: '27471', name: 'Minecraft' },
  { id: '26936', name: 'Music' },
  { id: '509660', name: 'Art' },
  { id: '743', name: 'Chess' },
  { id: '1469308723', name: 'Software and Game Development' },
];

export const streamTitles: readonly string[] = [
  'Cozy evening, come in!',
  'Road to the top: day 12',
  'First time in this game, no spoilers please',
  'Building something silly together 🛠️',
  'Viewers choose what happens',
  'Speedrun practice & questions',
];

const rewardKinds: readonly Omit<Reward, 'id'>[] = [
  { title: 'Hydrate!', cost: 100, prompt: 'Makes me drink some water', needsInput: false },
  { title: 'Ask me anything', cost: 500, prompt: 'What would you like to know?', needsInput: true },
  { title: 'Choose the next song', cost: 1_500, prompt: 'Title and artist, please', needsInput: true },
  { title: 'Highlight of the day', cost: 300, prompt: '', needsInput: false },
  { title: 'Do ten push-ups', cost: 5_000, prompt: 'You know who you are', needsInput: false },
];

export function createViewers(random: Random, users: UserDirectory): Viewer[] {
  return viewerNames.map((login) =>
    Object.assign(users.add({ login }), {
      color: random.pick(colors),
      subscribedMonths: random.chance(0.5) ? random.integer(1, 48) : 0,
    }),
  );
}

/** The names start with `Sim_` to show that the broadcasters are simulated. */
export function createBroadcasters(users: UserDirectory): Person[] {
  return broadcasterNames.map((name) => users.add({ login: `Sim_${name}` }));
}

/** Creates an offline channel with its own rewards and moderators. */
export function createChannel(random: Random, broadcaster: Person, viewers: readonly Viewer[]): Channel {
  return {
    broadcaster,
    moderators: random.sample(viewers, 2),
    rewards: random.sample(rewardKinds, 3).map((reward) => ({ id: random.uuid(), ...reward })),
    language: random.pick(languages),
    title: random.pick(streamTitles),
    category: random.pick(categories),
    stream: null,
    pastStreams: [],
    streamCount: 0,
  };
}

/** Unknown names get an id derived from the name. */
export function findCategory(name: string): Category {
  const known = categories.find((category) => category.name === name);
  return known ?? { id: new Random(`category/${name}`).digits(9), name };
}
