import type { StoredEvent } from '@stream-events/contracts';
import { LedgerEntry } from '../chaos/ledger.js';
import type { Occurrence } from '../chaos/occurrences.js';
import { checkConduit, type ConduitEvidence } from './losses.js';

const eventType = 'channel-update';
const dataOf = (marker: string): string => JSON.stringify({ marker });

const occurrence = (marker: string, at: number, overrides: Partial<Occurrence> = {}): Occurrence => ({
  entry: new LedgerEntry({ marker, kind: 'notification', eventType, eventData: dataOf(marker) }),
  source: 'shard 3',
  sentAt: at,
  passedAt: at,
  ...overrides,
});
const stored = (marker: string): StoredEvent => ({
  id: `019aa3c1-7f5e-7cc2-9d5c-00000000000${marker}`,
  eventId: marker,
  eventType,
  eventSource: 'PlatformSub',
  origin: 'platform',
  eventData: dataOf(marker),
});
const check = (evidence: Partial<ConduitEvidence>) =>
  checkConduit({
    occurrences: [],
    listed: [],
    deadLetters: new Set(),
    gaps: [{ source: 'shard 3', from: 1_000, until: 2_000 }],
    killedAt: [1_000],
    ...evidence,
  });

describe(checkConduit.name, () => {
  it('accepts a loss inside a gap of the shard that carried the event, and measures it', () => {
    const occurrences = [occurrence('1', 1_000), occurrence('2', 1_400), occurrence('3', 1_500)];

    expect(check({ occurrences, listed: [stored('2')] })).toEqual({
      findings: [],
      losses: [{ events: 2, longestMs: 500 }],
    });
  });

  it('counts what was not stored before a kill as a loss of this kill, and measures each shard alone', () => {
    const gaps = [
      { source: 'shard 3', from: 900, until: 1_600 },
      { source: 'shard 3', from: 8_900, until: 9_500 },
      { source: 'shard 4', from: 8_900, until: 9_500 },
    ];
    const occurrences = [
      ...[1_000, 8_950, 9_400].map((at) => occurrence(String(at), at)),
      occurrence('other', 9_500, { source: 'shard 4' }),
    ];

    expect(check({ occurrences, gaps, killedAt: [950, 9_000] })).toEqual({
      findings: [],
      losses: [
        { events: 1, longestMs: 0 },
        { events: 3, longestMs: 450 },
      ],
    });
  });

  it('measures the losses of two kills apart, also when one gap covers both', () => {
    const gaps = [{ source: 'shard 3', from: 900, until: 6_000 }];
    const occurrences = [950, 1_200, 5_100, 5_400].map((at) => occurrence(String(at), at));

    expect(check({ occurrences, gaps, killedAt: [1_000, 5_000] }).losses).toEqual([
      { events: 2, longestMs: 250 },
      { events: 2, longestMs: 300 },
    ]);
  });

  it.each([
    ['before the gap', occurrence('1', 999)],
    ['after the gap', occurrence('1', 2_001)],
    ['inside a gap of another shard', occurrence('1', 1_500, { source: 'shard 4' })],
  ])('finds a loss %s', (_, missing) => {
    expect(check({ occurrences: [missing] }).findings).toEqual([{ kind: 'missing', what: '1' }]);
  });

  it('finds an event that is stored twice, even inside a gap', () => {
    const listed = [stored('1'), { ...stored('1'), id: stored('2').id }];

    expect(check({ occurrences: [occurrence('1', 1_500)], listed }).findings).toMatchObject([
      { kind: 'doubled' },
    ]);
  });
});
