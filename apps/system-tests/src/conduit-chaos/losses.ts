import { check, type Finding } from '../chaos/checker.js';
import { markerOf } from '../chaos/ledger.js';
import type { Gap } from './conduit-bed.js';
import type { Occurrence } from './occurrences.js';
import type { StoredEvent } from '@stream-events/contracts';

/** The occurrences on the platform, the stored events, and the reported gaps. */
export interface ConduitEvidence {
  occurrences: readonly Occurrence[];
  listed: readonly StoredEvent[];
  deadLetters: ReadonlySet<string>;
  gaps: readonly Gap[];
  /** The times of the kills, in milliseconds since 1970. */
  killedAt: readonly number[];
}

/** The events that a kill lost. */
export interface Loss {
  events: number;
  /** The longest time between a shard's first and last missing event, in milliseconds. */
  longestMs: number;
}

/**
 * Checks that every occurrence is stored exactly once. An occurrence that is missing during a reported gap of its shard is a loss, not a
 * finding. Returns the findings, and the losses of each kill.
 */
export function checkConduit(evidence: ConduitEvidence): { findings: Finding[]; losses: Loss[] } {
  const { occurrences, listed, deadLetters, gaps, killedAt } = evidence;
  const isReported = (occurrence: Occurrence): boolean => gaps.some((gap) => isIn(occurrence, gap));
  for (const occurrence of occurrences) {
    occurrence.entry.note(isReported(occurrence) ? { kind: 'timeout' } : { kind: 'accepted', id: undefined });
  }
  const ours = listed.filter(({ eventType }) => eventType === 'channel-update');
  const sent = occurrences.map(({ entry }) => entry);
  const stored = new Set(ours.map(({ eventData }) => markerOf(eventData)));
  const missing = occurrences.filter(({ entry }) => !stored.has(entry.event.marker));
  return {
    findings: check({ sent, listed: ours, deadLetters, published: undefined }),
    losses: killedAt.map((time) =>
      toLoss(
        missing.filter((occurrence) => isReported(occurrence) && nearest(killedAt, occurrence) === time),
      ),
    ),
  };
}

/**
 * Returns the time of the kill that lost an occurrence. A killed connector loses everything that it has not stored yet, so some of the lost
 * occurrences are older than the kill. A gap does not identify its kill: if another kill follows soon, one gap can cover both kills.
 */
function nearest(killedAt: readonly number[], { sentAt }: Occurrence): number | undefined {
  const distance = (time: number): number => Math.abs(sentAt - time);
  return killedAt.toSorted((one, other) => distance(one) - distance(other))[0];
}

function isIn({ shard, sentAt, passedAt }: Occurrence, { source, from, until }: Gap): boolean {
  return source === `shard ${shard}` && passedAt >= from && sentAt <= until;
}

function toLoss(missing: readonly Occurrence[]): Loss {
  const shards = new Set(missing.map(({ shard }) => shard));
  const spans = [...shards].map((shard) => {
    const times = missing.filter((each) => each.shard === shard).map(({ sentAt }) => sentAt);
    return Math.max(...times) - Math.min(...times);
  });
  return { events: missing.length, longestMs: Math.max(0, ...spans) };
}
