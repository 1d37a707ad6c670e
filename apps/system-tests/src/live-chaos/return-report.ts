import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import { printCounts, printFindings } from './chaos-report.js';
import type { ReturnResult } from './return.js';

// Each of the two gateways may have one consumer for live events and four for older events.
const maxConsumers = 10;

/** The page's section about clients that all reconnect together. */
export function printReturn(result: ReturnResult): Section {
  const { clients, missedEvents, bigEvents, received, servedMs, consumersBefore, consumersMost } = result;
  const { endings, judgement, isSettled } = result;
  return {
    title: 'A thousand clients reconnect at once',
    paragraphs: [
      `${formatCount(clients)} clients with four kinds of filters disconnect. ${formatCount(missedEvents)} small events and then ${formatCount(bigEvents)} events of 64 KiB are published, more than the gateways keep in memory. Then all clients connect at the same moment, to two gateways at random, with their last positions. The clients received ${formatCount(received)} events in ${formatSeconds(servedMs)}; connections that ended meanwhile: ${printCounts(endings)}. The stream had ${consumersBefore} consumers before, and at most ${consumersMost} during the reconnection, sampled every 50 ms.`,
      ...printFindings(judgement),
    ],
    promises: [
      {
        promise: `${formatCount(clients)} clients that reconnect at once, with positions older than the gateways' memory, receive everything`,
        measured: `${formatCount(received)} events in ${formatSeconds(servedMs)}, ${judgement.found} clients with findings`,
        isKept: isSettled && received > 0 && judgement.clients === clients && judgement.found === 0,
      },
      {
        promise: `The gateways need at most ${maxConsumers} consumers on the stream`,
        measured: `${consumersMost}`,
        isKept: consumersMost > 0 && consumersMost <= maxConsumers,
      },
    ],
  };
}
