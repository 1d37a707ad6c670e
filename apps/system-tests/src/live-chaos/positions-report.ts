import { table } from '../measure/report.js';
import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import { printCounts, printFindings } from './chaos-report.js';
import type { LostStreamResult, PositionResult } from './positions.js';

/** The page's section about old and invalid positions, and a deleted stream. */
export function printPositions(positions: readonly PositionResult[], lost: LostStreamResult): Section {
  const { clients, gaps, newEpochMs, isSettled, judgement } = lost;
  const wrong = positions.filter((position) => !isAsExpected(position));
  const gapsTold = gaps.other_epoch ?? 0;
  return {
    title: 'Invalid positions',
    paragraphs: [
      'Clients connect with these positions. When all clients are live, the test sends one event. Each client receives, in order:',
      table(
        ['position', 'received', ''],
        positions.map((position) => [
          position.name,
          position.story.join(', ') || 'nothing',
          isAsExpected(position) ? '' : `**expected: ${position.expected.join(', ')}**`,
        ]),
      ),
      `Then the stream is deleted under ${formatCount(clients)} connected clients while events flow. Time until a stream with a new epoch existed: ${newEpochMs === undefined ? '**never**' : formatSeconds(newEpochMs)}. Gap messages to clients: ${printCounts(gaps)}.`,
      ...printFindings(judgement),
    ],
    promises: [
      {
        promise:
          'A client whose position is expired, from another epoch, forged, or garbage receives an explicit gap, then live events',
        measured: `${positions.length - wrong.length} of ${positions.length} as expected`,
        isKept: wrong.length === 0,
      },
      {
        promise: 'When the stream is lost, every connected client gets a gap message, then every new event',
        measured: `${gapsTold} of ${clients} clients, ${judgement.found} with findings`,
        isKept: isSettled && newEpochMs !== undefined && gapsTold >= clients && judgement.found === 0,
      },
    ],
  };
}

function isAsExpected({ expected, story }: PositionResult): boolean {
  return story.join() === expected.join();
}
