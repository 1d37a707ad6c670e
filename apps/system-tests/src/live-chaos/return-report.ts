import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import { printCounts, printFindings } from './chaos-report.js';
import type { ReturnResult } from './return.js';

// Two gateways: one consumer each for what is live, and at most four for what is older.
const maxConsumers = 10;

/** The section of the page about clients that come back together. */
export function printReturn(result: ReturnResult): Section {
  const { clients, missedEvents, bigEvents, received, servedMs, consumersBefore, consumersMost } = result;
  const { endings, judgement, isSettled } = result;
  return {
    title: 'A thousand clients come back at once',
    paragraphs: [
      `${formatCount(clients)} clients with four kinds of filters leave. ${formatCount(missedEvents)} small events and then ${formatCount(bigEvents)} of 64 KiB are put on the stream, more than the gateways keep in memory. Then all clients connect at the same moment, to two gateways at random, with their last positions. They got ${formatCount(received)} events in ${formatSeconds(servedMs)}; connections that ended meanwhile: ${printCounts(endings)}. The stream had ${consumersBefore} consumers before, and at most ${consumersMost} meanwhile, asked every 50 ms.`,
      ...printFindings(judgement),
    ],
    promises: [
      {
        promise: `${formatCount(clients)} clients that come back at once, with positions older than what gateways have in memory, get everything`,
        measured: `${formatCount(received)} events in ${formatSeconds(servedMs)}, ${judgement.found} clients with findings`,
        isKept: isSettled && received > 0 && judgement.clients === clients && judgement.found === 0,
      },
      {
        promise: `They are served with at most ${maxConsumers} consumers on the stream`,
        measured: `${consumersMost}`,
        isKept: consumersMost > 0 && consumersMost <= maxConsumers,
      },
    ],
  };
}
