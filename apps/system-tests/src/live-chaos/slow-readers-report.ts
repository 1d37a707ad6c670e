import { table } from '../measure/report.js';
import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import { median } from '../measure/quantile.js';
import { printCounts, printFindings } from './chaos-report.js';
import type { SlowReadersResult } from './slow-readers.js';

const maxMebibytes = 1;
const maxRatio = 1.1;

/** The page's section about readers that stop reading. */
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
      `${formatCount(clients)} clients of one gateway receive 20 events per second each. ${windowReaders} other clients (the readers) receive 20 events of 64 KiB per second each. The readers read for a window of ${windowSeconds} s and stop reading for the next window. The table shows the p99 of the other clients in each window, from sending the request to delivery:`,
      table(
        ['', ...p99Ms.reading.map((_, index) => String(index + 1)), 'median'],
        (['reading', 'stopped'] as const).map((kind) => [
          kind,
          ...[...p99Ms[kind], median(p99Ms[kind])].map((ms) => `${ms.toFixed(1)} ms`),
        ]),
      ),
      `Then ${readers} such readers, each with its own filter, connect to a new gateway that serves no other clients, and stop reading permanently. When the buffers of all readers were full, the gateway used ${full.used.toFixed(0)} MiB after a garbage collection, and ${full.own.toFixed(0)} MiB of private memory. After the readers had reconnected and caught up, with nothing published in between, these figures were ${after.used.toFixed(0)} and ${after.own.toFixed(0)} MiB. Time until the last reader was disconnected: ${cutAfterMs === undefined ? '**never**' : formatSeconds(cutAfterMs)}. Close codes of the readers’ connections: ${printCounts(endings)}.`,
      ...printFindings(judgement),
    ],
    promises: [
      {
        promise: `A reader that stops reading costs the gateway at most ${maxMebibytes} MiB`,
        measured: `${each.toFixed(2)} MiB per reader, with ${readers} readers`,
        isKept: each <= maxMebibytes,
      },
      {
        promise: 'The gateway disconnects such a reader with the close code 4408',
        measured: `${cut} of ${readers} disconnected, ${endings['4408'] ?? 0} with this code`,
        isKept: cut === readers && endings['4408'] === readers,
      },
      {
        promise: 'A disconnected reader resumes from its position and receives everything, once and in order',
        measured: `${judgement.found} of ${judgement.clients} with findings`,
        isKept: judgement.clients === readers && judgement.found === 0,
      },
      {
        promise: `The p99 of the other clients changes by less than 10 %: stopped / reading < ${maxRatio}, medians of ${p99Ms.reading.length} alternating windows`,
        measured: `${median(p99Ms.stopped).toFixed(1)} / ${median(p99Ms.reading).toFixed(1)} ms = ${ratio.toFixed(2)}`,
        isKept: ratio < maxRatio,
      },
    ],
  };
}
