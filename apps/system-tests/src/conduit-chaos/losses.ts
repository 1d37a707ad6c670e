import type { StoredEvent } from '@stream-events/contracts';
import { check, type Finding } from '../chaos/checker.js';
import { markerOf } from '../chaos/ledger.js';
import { isReported, noteOutcomes, type Gap, type Occurrence } from '../chaos/occurrences.js';

/** What happened on the platform, what is stored, and which gaps were reported. */
export interface ConduitEvidence {
  occurrences: readonly Occurrence[];
  listed: readonly StoredEvent[];
  deadLetters: ReadonlySet<string>;
  gaps: readonly Gap[];
  /** In milliseconds since 1970. */
  killedAt: readonly number[];
}

export interface Loss {
  events: number;
  /** Longest time from the first to the last missing event of a shard, in milliseconds. */
  longestMs: number;
}

/**
 * Checks that every occurrence is stored exactly once. A missing occurrence is a finding, unless its shard reported a gap at that time. In
 * that case, the occurrence counts as a loss of the nearest kill.
 */
export function checkConduit(evidence: ConduitEvidence): { findings: Finding[]; losses: Loss[] } {
  const { occurrences, listed, deadLetters, gaps, killedAt } = evidence;
  noteOutcomes(occurrences, gaps);
  const ours = listed.filter(({ eventType }) => eventType === 'channel-update');
  const sent = occurrences.map(({ entry }) => entry);
  const stored = new Set(ours.map(({ eventData }) => markerOf(eventData)));
  const missing = occurrences.filter(({ entry }) => !stored.has(entry.event.marker));
  return {
    findings: check({ sent, listed: ours, deadLetters, published: undefined }),
    losses: killedAt.map((time) =>
      toLoss(
        missing.filter(
          (occurrence) => isReported(occurrence, gaps) && nearest(killedAt, occurrence) === time,
        ),
      ),
    ),
  };
}

/**
 * Attributes a lost occurrence to the nearest kill. A killed connector loses everything that it has not stored yet, so an occurrence can be
 * older than the kill. The reported gap does not identify the kill, because a gap can cover two kills in quick succession.
 */
function nearest(killedAt: readonly number[], { sentAt }: Occurrence): number | undefined {
  const distance = (time: number): number => Math.abs(sentAt - time);
  return killedAt.toSorted((one, other) => distance(one) - distance(other))[0];
}

function toLoss(missing: readonly Occurrence[]): Loss {
  const sources = new Set(missing.map(({ source }) => source));
  const spans = [...sources].map((source) => {
    const times = missing.filter((each) => each.source === source).map(({ sentAt }) => sentAt);
    return Math.max(...times) - Math.min(...times);
  });
  return { events: missing.length, longestMs: Math.max(0, ...spans) };
}
