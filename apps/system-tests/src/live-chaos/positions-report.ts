import { table } from '../measure/report.js';
import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import { printCounts, printFindings } from './chaos-report.js';
import type { LostStreamResult, PositionResult } from './positions.js';

/** The section of the page about positions that are no use, and about a stream that is lost. */
export function printPositions(positions: readonly PositionResult[], lost: LostStreamResult): Section {
  const { clients, gaps, newEpochMs, isSettled, judgement } = lost;
  const wrong = positions.filter((position) => !isAsExpected(position));
  const gapsTold = gaps.other_epoch ?? 0;
  return {
    title: 'Positions that are no use',
    paragraphs: [
      'Clients connect with these positions; when they are live, one event is sent. What they get, in order:',
      table(
        ['position', 'got', ''],
        positions.map((position) => [
          position.name,
          position.story.join(', ') || 'nothing',
          isAsExpected(position) ? '' : `**expected: ${position.expected.join(', ')}**`,
        ]),
      ),
      `Then the stream is deleted under ${formatCount(clients)} connected clients while events flow. There was one of another epoch after ${newEpochMs === undefined ? '**never**' : formatSeconds(newEpochMs)}, and clients were told of gaps: ${printCounts(gaps)}.`,
      ...printFindings(judgement),
    ],
    promises: [
      {
        promise:
          'A position older than retention, of another epoch, forged, or garbage: an explicit gap, then live',
        measured: `${positions.length - wrong.length} of ${positions.length} as expected`,
        isKept: wrong.length === 0,
      },
      {
        promise:
          'When the stream is lost, every connected client is told of a gap, and then gets everything new',
        measured: `${gapsTold} of ${clients} told, ${judgement.found} with findings`,
        isKept: isSettled && newEpochMs !== undefined && gapsTold >= clients && judgement.found === 0,
      },
    ],
  };
}

function isAsExpected({ expected, story }: PositionResult): boolean {
  return story.join() === expected.join();
}
