import { printNumber } from '../kit/print-number.js';
import { printUserText } from '../kit/print-user-text.js';
import type { StreamSummary } from './stream-queries.js';
import { printDay, printStreamDuration } from './stream-times.js';
import { parseTime } from '../kit/parse-time.js';

/** A number of a summary. */
export interface SummaryFact {
  title: string;
  value: string;
  /** What the number consists of. */
  detail?: string;
}

/** The best of something: `Top cheerers` with their names. */
export interface SummaryTops {
  title: string;
  entries: readonly { name: string | null; value: string }[];
}

/** What a summary is about. */
export interface SummarizedStream {
  username: string;
  title: string;
  category: string;
}

const maxNameLength = 40;

/** The numbers of a summary. The first ones are the largest on the card. Numbers that a stream can lack are left out when they are zero. */
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
      detail: `with ${count(incoming.viewers)} viewers`,
      isZero: incoming.count === 0,
    },
    {
      title: 'Raided others',
      value: count(outgoing.count),
      detail: `with ${count(outgoing.viewers)} viewers`,
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

/** Who gave most, and the largest raids. */
export function listTops({ bits, gifts, raids }: StreamSummary): SummaryTops[] {
  const lists: SummaryTops[] = [
    {
      title: 'Top cheerers',
      entries: bits.top_cheerers.map(({ user_name, total }) => ({
        name: user_name,
        value: `${printNumber(total)} bits`,
      })),
    },
    {
      title: 'Top givers',
      entries: gifts.top_givers.map(({ user_name, total }) => ({
        name: user_name,
        value: `${printNumber(total)} ${total === 1 ? 'gift' : 'gifts'}`,
      })),
    },
    {
      title: 'Raided by',
      entries: raids.incoming.top.map(({ user_name, viewers }) => ({
        name: user_name,
        value: `${printNumber(viewers)} viewers`,
      })),
    },
  ];
  return lists.filter(({ entries }) => entries.length > 0);
}

/** Why the numbers of a summary are not final, or too low. Undefined if they are neither. */
export function explainPartial({ partial, ended_at }: StreamSummary): string | undefined {
  if (partial)
    return 'Incomplete: events of this stream are older than the retention and were removed, so the numbers are too low.';
  return ended_at === null ? 'So far: the stream is still running.' : undefined;
}

/** A summary as text, to paste it into a chat. */
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

/** The name of a user, who may have none. */
export function printName(name: string | null): string {
  return name === null ? 'somebody' : printUserText(name, maxNameLength);
}
