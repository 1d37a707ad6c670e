import { summarize } from '../chaos/report.js';
import { table } from '../measure/report.js';
import { formatCount, type Section } from '../measure/report.js';
import { median, quantile } from '../measure/quantile.js';
import type { ChaosResult } from './chaos.js';
import type { Judgement } from '../fleet/fleet-messages.js';
import { filterKinds } from '../fleet/test-events.js';

/** The page's section about random restarts of gateways and broker. */
export function printChaos(result: ChaosResult): Section {
  const { seconds, clients, faults, accepted, perSecond, total, epochs, judgement, findings, isSettled } =
    result;
  const count = Object.values(faults).reduce((sum, number) => sum + number, 0);
  return {
    title: 'Gateways and broker restarted at random',
    paragraphs: [
      `${formatCount(clients)} WebSocket clients run in one process. Each of five kinds of filters (${filterKinds.join(', ')}) is used by a fifth of the clients. Each client connects to one of two gateways at random. When disconnected, the client reconnects with its last position after a pause with jitter. For ${seconds} s, events flow through the webhook and the API, including test events, while gateways and broker get SIGTERM or SIGKILL at random and restart.`,
      table(
        ['', ''],
        [
          ...Object.entries(faults).map(([name, times]) => [name, formatCount(times)]),
          ['events accepted', formatCount(accepted)],
          ['deliveries', formatCount(total.received)],
          [
            'deliveries per second: median, maximum (catching up)',
            `${formatCount(median(perSecond))}, ${formatCount(quantile(perSecond, 1))}`,
          ],
          ['reconnections', formatCount(total.connections)],
          ['how connections ended', printCounts(total.endings)],
          ['epochs of the stream', formatCount(epochs)],
          ['gap messages to clients', printCounts(total.gaps)],
        ],
      ),
      'The deliveries of each client are compared with the stream, and the stream with the store. From its first position, a client must receive exactly the events that pass its filter, each once and in stream order. A gap message is allowed only where the epoch of the stream changed.',
      ...printFindings(judgement, [...summarize(findings), ...total.strange]),
    ],
    promises: [
      {
        promise: `${formatCount(clients)} clients with five kinds of filters, with gateways and broker restarting at random for ${seconds} s: each client receives exactly its events, once and in order, or an explicit gap where the stream lost its tail`,
        measured: `${formatCount(count)} restarts, ${formatCount(total.received)} deliveries, ${judgement.found} clients with findings, ${formatCount(totalGaps(total.gaps))} gaps in ${epochs} epochs`,
        isKept: count > 0 && isSettled && judgement.clients === clients && judgement.found === 0,
      },
      {
        promise: 'No client receives an event twice on one connection, or an unreadable message',
        measured: `${judgement.kinds.doubled ?? 0} doubled, ${total.strange.length} connections garbled`,
        isKept: (judgement.kinds.doubled ?? 0) === 0 && total.strange.length === 0,
      },
      {
        promise: 'Every accepted event is in the store and on the stream',
        measured: `${formatCount(accepted)} accepted, ${findings.length} findings`,
        isKept: accepted > 0 && findings.length === 0,
      },
    ],
  };
}

/** Findings as Markdown lines. */
export function printFindings({ kinds, examples }: Judgement, others: readonly string[] = []): string[] {
  if (examples.length === 0 && others.length === 0) return ['No findings.'];
  return [
    `Findings: ${printCounts(kinds)}.`,
    [
      ...examples.map(({ kind, what, filter }) => `- ${kind}: ${what}, filter ${filter}`),
      ...others.map((line) => `- ${line}`),
    ].join('\n'),
  ];
}

export function printCounts(counts: Record<string, number>): string {
  return (
    Object.entries(counts)
      .map(([name, count]) => `${formatCount(count)} × ${name}`)
      .join(', ') || 'none'
  );
}

function totalGaps(gaps: Record<string, number>): number {
  return Object.values(gaps).reduce((sum, count) => sum + count, 0);
}
