import fc from 'fast-check';
import { v7 } from 'uuid';
import { FeedTrack } from './feed-track.js';

const minute = 60_000;
const start = Date.UTC(2026, 0, 1);

function idAt(milliseconds: number): string {
  return v7({ msecs: start + milliseconds });
}

/** Takes events at the next sequences. Returns the ids of the new events. */
function take(track: FeedTrack, ids: readonly string[]): string[] {
  return ids.flatMap((id) => {
    const event = track.take({ sequence: track.nextSequence, id, data: Buffer.from(`{"id":"${id}"}`) });
    return event ? [event.id] : [];
  });
}

describe(FeedTrack.name, () => {
  it('accepts each event once, across any number of epochs', () => {
    const pool = Array.from({ length: 30 }, (_, index) => idAt(index));
    // Reserve the oldest id, so that no later event is older than all known events. Another test covers that case.
    const [first = '', ...others] = pool;
    const epochs = fc.array(fc.array(fc.constantFrom(...others), { maxLength: 40 }), { maxLength: 5 });
    fc.assert(
      fc.property(epochs, (published) => {
        let track = new FeedTrack('00000000', 1);
        const taken = take(track, [first]);
        for (const [index, ids] of published.entries()) {
          taken.push(...take(track, ids));
          track = new FeedTrack(String(index).padStart(8, '0'), 1, track);
        }
        expect(taken).toEqual([...new Set([first, ...published.flat()])]);
      }),
    );
  });

  it('keeps a copy, because the network buffer is reused', () => {
    const track = new FeedTrack('0ddba115', 1);
    const data = Buffer.from('{"a":1}');

    const event = track.take({ sequence: 1, id: idAt(0), data });
    data.fill('x');

    expect(String(event?.record)).toBe('{"a":1}');
  });

  it('ignores messages that it has read, and messages that are not events', () => {
    const track = new FeedTrack('0ddba115', 5);
    const data = Buffer.from('{}');

    expect(track.take({ sequence: 4, id: idAt(0), data })).toBeUndefined();
    expect(track.take({ sequence: 7, id: undefined, data })).toBeUndefined();
    expect(track.take({ sequence: 6, id: idAt(1), data })).toBeUndefined();

    expect(track).toMatchObject({ nextSequence: 8, head: { sequence: 7, check: '00000000' } });
    expect(track.take({ sequence: 8, id: idAt(2), data })).toMatchObject({ sequence: 8 });
  });

  it('has the position of the newest event, even of a repeated one', () => {
    const track = new FeedTrack('0ddba115', 1);
    const id = idAt(0);
    take(track, [id, id]);
    track.passTo(9);
    // A consumer can report its position late.
    track.passTo(5);

    expect(track.head).toEqual({ epoch: '0ddba115', sequence: 2, check: id.slice(-8) });
    expect(track).toMatchObject({ nextSequence: 10, resumeSequence: 2 });
  });

  it('is contradicted by another event at the last sequence, and by any earlier sequence', () => {
    const track = new FeedTrack('0ddba115', 1);
    const [first = '', second = ''] = take(track, [idAt(0), idAt(1)]);
    const data = Buffer.from('{}');

    expect(track.isContradictedBy({ sequence: 2, id: second, data })).toBe(false);
    expect(track.isContradictedBy({ sequence: 3, id: idAt(2), data })).toBe(false);
    expect(track.isContradictedBy({ sequence: 2, id: idAt(2), data })).toBe(true);
    expect(track.isContradictedBy({ sequence: 1, id: first, data })).toBe(true);
  });

  it('drops events older than all known ones until none has arrived for a minute', () => {
    let now = 0;
    const former = new FeedTrack('0ddba115', 1);
    take(former, [idAt(minute)]);
    const track = new FeedTrack('1badcafe', 1, former, () => now);

    expect(take(track, [idAt(0)])).toEqual([]);
    now = 50_000;
    expect(take(track, [idAt(1)])).toEqual([]);
    now = 105_000;
    expect(take(track, [idAt(2)])).toEqual([]);
    expect(take(track, [idAt(minute + 1)])).toHaveLength(1);
    now = 170_000;
    expect(take(track, [idAt(3)])).toHaveLength(1);
  });

  it('remembers 20,000 ids', () => {
    const track = new FeedTrack('0ddba115', 1);
    const ids = Array.from({ length: 20_001 }, (_, index) => idAt(index));
    take(track, ids);

    expect(take(track, ids.slice(1))).toEqual([]);
    expect(take(track, ids.slice(0, 1))).toHaveLength(1);
  });
});
