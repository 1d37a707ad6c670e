import { table } from '../measure/report.js';
import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import { median } from '../measure/quantile.js';
import { printCounts, printFindings } from './chaos-report.js';
import type { SlowReadersResult } from './slow-readers.js';

const maxMebibytes = 1;
const maxRatio = 1.1;

/** The section of the page about readers that stop reading. */
export function printSlowReaders({
  clients,
  windowSeconds,
  windowReaders,
  p99Ms,
  stalled,
}: SlowReadersResult): Section {
  const { readers, full, after, cut, cutAfterMs, endings, judgement } = stalled;
  const each = (full.used - after.used) / readers;
  const ratio = median(p99Ms.stopped) / median(p99Ms.reading);
  return {
    title: 'Readers that stop reading',
    paragraphs: [
      `${formatCount(clients)} clients of one gateway get 20 events a second each. Beside them ${windowReaders} get events of 64 KiB, 20 a second: in one window of ${windowSeconds} s they read them, in the next they stand still. p99 of the others in each window, from sending the request to the client:`,
      table(
        ['', ...p99Ms.reading.map((_, index) => String(index + 1)), 'median'],
        (['reading', 'stopped'] as const).map((kind) => [
          kind,
          ...[...p99Ms[kind], median(p99Ms[kind])].map((ms) => `${ms.toFixed(1)} ms`),
        ]),
      ),
      `Then ${readers} such readers, each with a filter of its own, stop for good at a gateway that was just started and serves nobody else. When all their buffers were full it had ${full.used.toFixed(0)} MiB in use, garbage collected, and ${full.own.toFixed(0)} MiB of the system; when they had come back and caught up, nothing having been published in between, ${after.used.toFixed(0)} and ${after.own.toFixed(0)} MiB. The last one was cut ${cutAfterMs === undefined ? '**never**' : `after ${formatSeconds(cutAfterMs)}`}; their connections ended with: ${printCounts(endings)}.`,
      ...printFindings(judgement),
    ],
    promises: [
      {
        promise: `A reader that stops reading costs the gateway at most ${maxMebibytes} MiB`,
        measured: `${each.toFixed(2)} MiB each, of ${readers}`,
        isKept: each <= maxMebibytes,
      },
      {
        promise: 'It is cut with the code 4408',
        measured: `${cut} of ${readers} cut, ${endings['4408'] ?? 0} told so`,
        isKept: cut === readers && endings['4408'] === readers,
      },
      {
        promise: 'It resumes with its position and gets everything, once and in order',
        measured: `${judgement.found} of ${judgement.clients} with findings`,
        isKept: judgement.clients === readers && judgement.found === 0,
      },
      {
        promise: `The others' p99 moves by less than 10 %: stopped / reading < ${maxRatio}, medians of ${p99Ms.reading.length} alternating windows`,
        measured: `${median(p99Ms.stopped).toFixed(1)} / ${median(p99Ms.reading).toFixed(1)} ms = ${ratio.toFixed(2)}`,
        isKept: ratio < maxRatio,
      },
    ],
  };
}
