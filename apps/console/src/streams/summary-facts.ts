import { printCount, printNumber } from '../kit/print-number.js';
import { printUserText } from '../kit/print-user-text.js';
import type { StreamSummary } from './stream-queries.js';
import { printDay, printStreamDuration } from './stream-times.js';
import { parseTime } from '../kit/parse-time.js';

export interface SummaryFact {
  title: string;
  value: string;
  /** Further information about the number. */
  detail?: string;
}

/** A ranking of users, such as `Top cheerers`. */
export interface SummaryTops {
  title: string;
  entries: readonly { name: string | null; value: string }[];
}

export interface SummarizedStream {
  username: string;
  title: string;
  category: string;
}

const maxNameLength = 40;

/** Returns a summary's numbers. The card shows `main` largest. Zeros are left out of `others`. */
export function listFacts({ viewers, followers, subscriptions, bits, raids, chat, gifts }: StreamSummary): {
  main: SummaryFact[];
  others: SummaryFact[];
} {
  const count = (value: number | null): string => (value === null ? 'unknown' : printNumber(value));
  const { incoming, outgoing } = raids;
  const all: (SummaryFact & { isZero: boolean })[] = [
    {
      title: 'Subscriptions',
      value: count(subscriptions.total),
      isZero: subscriptions.total === 0,
      ...(gifts.total > 0 && { detail: `${count(gifts.total)} given` }),
    },
    { title: 'Bits', value: count(bits.total), isZero: bits.total === 0 },
    {
      title: 'Chat messages',
      value: count(chat.messages),
      detail: `by ${count(chat.chatters)} ${chat.chatters === 1 ? 'person' : 'people'}`,
      isZero: chat.messages === 0,
    },
    {
      title: 'Raids',
      value: count(incoming.count),
      detail: `with ${printCount(incoming.viewers, 'viewer')}`,
      isZero: incoming.count === 0,
    },
    {
      title: 'Raided others',
      value: count(outgoing.count),
      detail: `with ${printCount(outgoing.viewers, 'viewer')}`,
      isZero: outgoing.count === 0,
    },
  ];
  return {
    main: [
      { title: 'Peak viewers', value: count(viewers.peak) },
      {
        title: 'Average viewers',
        value: count(viewers.average === null ? null : Math.round(viewers.average)),
      },
      { title: 'New followers', value: count(followers) },
    ],
    others: all.filter(({ isZero }) => !isZero).map(({ isZero: _, ...fact }) => fact),
  };
}

/** Returns the top cheerers, top givers, and largest incoming raids. Omits empty rankings. */
export function listTops({ bits, gifts, raids }: StreamSummary): SummaryTops[] {
  const lists: SummaryTops[] = [
    {
      title: 'Top cheerers',
      entries: bits.top_cheerers.map(({ user_name, total }) => ({
        name: user_name,
        value: printCount(total, 'bit'),
      })),
    },
    {
      title: 'Top givers',
      entries: gifts.top_givers.map(({ user_name, total }) => ({
        name: user_name,
        value: printCount(total, 'gift'),
      })),
    },
    {
      title: 'Raided by',
      entries: raids.incoming.top.map(({ user_name, viewers }) => ({
        name: user_name,
        value: printCount(viewers, 'viewer'),
      })),
    },
  ];
  return lists.filter(({ entries }) => entries.length > 0);
}

/** Explains why the numbers are too low or not final; undefined if they are complete. */
export function explainPartial({ partial, ended_at }: StreamSummary): string | undefined {
  if (partial)
    return 'Incomplete: retention has already removed events of this stream, so the numbers are too low.';
  return ended_at === null ? 'So far: the stream is still running.' : undefined;
}

/** Formats a summary as text, for example for a chat. */
export function printSummary(stream: SummarizedStream, summary: StreamSummary): string {
  const { main, others } = listFacts(summary);
  const printFact = ({ title, value, detail }: SummaryFact): string =>
    `${title}: ${value}${detail ? ` (${detail})` : ''}`;
  const printTops = ({ title, entries }: SummaryTops): string =>
    `${title}: ${entries.map(({ name, value }) => `${printName(name)} (${value})`).join(', ')}`;
  const lines = [
    `${stream.username}, ${printDay(parseTime(summary.started_at).getTime())}, ${printStreamDuration(summary.duration_seconds)}`,
    printUserText([stream.title, stream.category].filter(Boolean).join(' · ')),
    ...[...main, ...others].map(printFact),
    ...listTops(summary).map(printTops),
    explainPartial(summary) ?? '',
  ];
  return lines.filter(Boolean).join('\n');
}

/** Formats a user's name; `somebody` if there is none. */
export function printName(name: string | null): string {
  return name === null ? 'somebody' : printUserText(name, maxNameLength);
}
