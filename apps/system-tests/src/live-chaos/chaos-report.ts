import { summarize } from '../chaos/report.js';
import { table } from '../measure/report.js';
import { formatCount, type Section } from '../measure/report.js';
import { median, quantile } from '../measure/quantile.js';
import type { ChaosResult } from './chaos.js';
import type { Judgement } from '../fleet/fleet-messages.js';
import { filterKinds } from '../fleet/test-events.js';

/** The section of the page about gateways and broker that are restarted at random. */
export function printChaos(result: ChaosResult): Section {
  const { seconds, clients, faults, accepted, perSecond, total, epochs, judgement, findings, isSettled } =
    result;
  const count = Object.values(faults).reduce((sum, number) => sum + number, 0);
  return {
    title: 'Gateways and broker restarted at random',
    paragraphs: [
      `${formatCount(clients)} WebSocket clients in one process, a fifth of them with each kind of filter (${filterKinds.join(', ')}), with positions. Each connects to one of two gateways at random, and again with its last position whenever it is cut, after a jittered pause. For ${seconds} s events flow through the webhook and the API, test events among them, while gateways and broker are ended in order or by force at random, and started again.`,
      table(
        ['', ''],
        [
          ...Object.entries(faults).map(([name, times]) => [name, formatCount(times)]),
          ['events accepted', formatCount(accepted)],
          ['deliveries', formatCount(total.received)],
          [
            'deliveries a second: median, most (catching up)',
            `${formatCount(median(perSecond))}, ${formatCount(quantile(perSecond, 1))}`,
          ],
          ['connections made again', formatCount(total.connections)],
          ['how connections ended', printCounts(total.endings)],
          ['epochs of the stream', formatCount(epochs)],
          ['gaps that clients were told of', printCounts(total.gaps)],
        ],
      ),
      'What each client got is compared with what was on the stream, and that with the store: from its first position on it must be exactly the events that pass its filter, each once, in the order of the stream, or a gap, and that only where the stream came into another epoch.',
      ...printFindings(judgement, [...summarize(findings), ...total.strange]),
    ],
    promises: [
      {
        promise: `${formatCount(clients)} clients with five kinds of filters, gateways and broker restarted at random for ${seconds} s: each gets exactly its events, once, in order, or an explicit gap where the stream lost its end`,
        measured: `${formatCount(count)} restarts, ${formatCount(total.received)} deliveries, ${judgement.found} clients with findings, ${formatCount(totalGaps(total.gaps))} gaps in ${epochs} epochs`,
        isKept: count > 0 && isSettled && judgement.clients === clients && judgement.found === 0,
      },
      {
        promise: 'Nobody gets an event twice on one connection, and nothing that cannot be read',
        measured: `${judgement.kinds.doubled ?? 0} doubled, ${total.strange.length} connections garbled`,
        isKept: (judgement.kinds.doubled ?? 0) === 0 && total.strange.length === 0,
      },
      {
        promise: 'Everything that was accepted is in the store and on the stream',
        measured: `${formatCount(accepted)} accepted, ${findings.length} findings`,
        isKept: accepted > 0 && findings.length === 0,
      },
    ],
  };
}

/** What was found, or that nothing was. */
export function printFindings({ kinds, examples }: Judgement, others: readonly string[] = []): string[] {
  if (examples.length === 0 && others.length === 0) return ['Nothing was found.'];
  return [
    `Found: ${printCounts(kinds)}.`,
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
