import type { Random } from './random.js';

const qualities = ['Brave', 'Calm', 'Cosy', 'Dizzy', 'Eager', 'Fuzzy', 'Jolly', 'Lucky', 'Mellow', 'Witty'];
const beings = ['Badger', 'Comet', 'Dragon', 'Ferret', 'Heron', 'Koala', 'Lynx', 'Otter', 'Raven', 'Wombat'];

/** The prefix shows that the user is simulated. */
export function createUserName(random: Random): string {
  return `Sim_${random.pick(qualities)}${random.pick(beings)}_${random.integer(1, 99_999)}`;
}
