import { formatCount, table, type Section } from '../measure/report.js';
import type { BenchBed } from './bench-bed.js';
import { streamShare, typeShares, type Population } from './population.js';

/** The page's section about the stores and the compared versions. */
export function describeMethod({ versions }: BenchBed): Section {
  const population = versions[0]?.stores.populationOf('filled');
  if (!population) throw new Error('there is no version to measure');
  return {
    title: 'The store',
    paragraphs: [
      describeStore(population),
      `One stream of 8 hours has ${(streamShare * 100).toFixed(0)} % of all events. Each viewer occurs in only some of the channels, so that some common values never occur together. The data of an event is 250 to 430 bytes long and agrees with the columns that the service derives from it. The rows depend only on the size of the store and on the day, so every version has the same rows. Each version has its own columns and indexes.`,
      'Types by share of the events:',
      table(
        ['type', 'share'],
        typeShares.slice(0, 8).map(({ type, weight }) => [type, `${(weight / 10).toFixed(1)} %`]),
      ),
      ...(versions.length > 1
        ? [
            'The **baseline** is another version of the service, measured in alternation with this one on the same machine. On a shared machine, figures vary from day to day, so compare ratios.',
          ]
        : []),
    ],
    promises: [],
  };
}

function describeStore({ events, months, channels, viewers }: Population): string {
  return `The store has ${formatCount(events)} events of ${formatCount(channels)} channels and ${formatCount(viewers)} viewers in ${months} monthly partitions. Channels and viewers have long tails: the first channel has 10 % of the events, and the last channel 0.03 %; the first viewers have about 1 % each, and the last viewers a few events each. There are ${typeShares.length} kinds of events; 0.4 % are tests, and 0.3 % come from a client.`;
}
