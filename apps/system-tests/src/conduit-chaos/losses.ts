import { check, type Finding } from '../chaos/checker.js';
import { markerOf } from '../chaos/ledger.js';
import type { Gap } from './conduit-bed.js';
import type { Occurrence } from './occurrences.js';
import type { StoredEvent } from '@stream-events/contracts';

/** What happened, what is stored, and what was reported. */
export interface ConduitEvidence {
  occurrences: readonly Occurrence[];
  listed: readonly StoredEvent[];
  deadLetters: ReadonlySet<string>;
  gaps: readonly Gap[];
  /** The times of the kills, in milliseconds since 1970. */
  killedAt: readonly number[];
}

/** What is missing after a kill. */
export interface Loss {
  events: number;
  /** The longest time between two missing events of a shard, in milliseconds. */
  longestMs: number;
}

/**
 * Checks that everything is stored once, unless it was carried by a shard in one of the shard's reported gaps, and nothing twice. What
 * is missing inside such a gap is a loss, not a finding.
 */
export function checkConduit(evidence: ConduitEvidence): { findings: Finding[]; losses: Loss[] } {
  const { occurrences, listed, deadLetters, gaps, killedAt } = evidence;
  for (const occurrence of occurrences) {
    const isInGap = gaps.some((gap) => isIn(occurrence, gap));
    occurrence.entry.note(isInGap ? { kind: 'timeout' } : { kind: 'accepted', id: undefined });
  }
  const ours = listed.filter(({ eventType }) => eventType === 'channel-update');
  const sent = occurrences.map(({ entry }) => entry);
  const stored = new Set(ours.map(({ eventData }) => markerOf(eventData)));
  const missing = occurrences.filter(({ entry }) => !stored.has(entry.event.marker));
  return {
    findings: check({ sent, listed: ours, deadLetters, published: undefined }),
    losses: killedAt.map((from, index) => {
      const next = killedAt[index + 1] ?? Infinity;
      // The gap of a killed connector begins before the kill: what it had not stored yet is missing, too.
      const ended = gaps.filter(({ until }) => until >= from && (until < next || next === Infinity));
      return toLoss(ended.map((gap) => missing.filter((occurrence) => isIn(occurrence, gap))));
    }),
  };
}

function isIn({ shard, sentAt, passedAt }: Occurrence, { source, from, until }: Gap): boolean {
  return source === `shard ${shard}` && passedAt >= from && sentAt <= until;
}

/** @param gaps what is missing in each gap of a shard */
function toLoss(gaps: readonly (readonly Occurrence[])[]): Loss {
  const spans = gaps.map((missing) => {
    const times = missing.map(({ sentAt }) => sentAt);
    return Math.max(...times) - Math.min(...times);
  });
  return { events: new Set(gaps.flat()).size, longestMs: Math.max(0, ...spans) };
}
