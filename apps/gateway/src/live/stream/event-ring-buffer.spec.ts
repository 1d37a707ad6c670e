import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { EventRingBuffer } from './event-ring-buffer.js';
import { LiveEvent } from './live-event.js';
import { maxRingBufferBytes } from '../live-limits.js';

function eventAt(sequence: number, record: Buffer = Buffer.from('{}')): LiveEvent {
  return new LiveEvent(String(sequence), record, '0ddba115', sequence);
}

function fill(ringBuffer: EventRingBuffer, sequences: readonly number[], record?: Buffer): void {
  for (const sequence of sequences) ringBuffer.add(eventAt(sequence, record));
}

function range(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // Safe cast: the flag provides the function.
  collect();
}

function sequencesOf(events: readonly LiveEvent[]): number[] {
  return events.map(({ sequence }) => sequence);
}

describe(EventRingBuffer.name, () => {
  it('is complete from its first sequence, even before the first event', () => {
    const ringBuffer = new EventRingBuffer('0ddba115', 41);

    expect(ringBuffer).toMatchObject({ epoch: '0ddba115', firstSequence: 42, last: undefined });
    expect(ringBuffer.slice(1, 10)).toEqual([]);

    fill(ringBuffer, [45, 46]);

    expect(ringBuffer.firstSequence).toBe(42);
    expect(ringBuffer.last?.sequence).toBe(46);
  });

  it('finds exactly the events that were added, with any holes', () => {
    const gaps = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 60 });
    fc.assert(
      fc.property(gaps, fc.nat(250), fc.nat(80), (steps, from, limit) => {
        let sequence = 0;
        const sequences = steps.map((step) => (sequence += step));
        const ringBuffer = new EventRingBuffer('0ddba115', 0);
        fill(ringBuffer, sequences);

        const expected = sequences.filter((each) => each >= from).slice(0, limit);
        expect(sequencesOf(ringBuffer.slice(from, limit))).toEqual(expected);
        expect(ringBuffer.at(from)?.sequence).toBe(sequences.find((each) => each === from));
      }),
    );
  });

  it('removes events, and keeps its first sequence', () => {
    const ringBuffer = new EventRingBuffer('0ddba115', 0);
    fill(ringBuffer, range(1, 10));
    ringBuffer.remove(new Set([1, 5, 10, 99]));

    expect(sequencesOf(ringBuffer.slice(1, 100))).toEqual([2, 3, 4, 6, 7, 8, 9]);
    expect(ringBuffer.at(5)).toBeUndefined();
    expect(ringBuffer.firstSequence).toBe(1);
    fill(ringBuffer, [11]);
    expect(ringBuffer.last?.sequence).toBe(11);
  });

  it('counts the bytes of removed events as free', () => {
    const record = Buffer.alloc(maxRingBufferBytes / 4);
    const ringBuffer = new EventRingBuffer('0ddba115', 0);
    fill(ringBuffer, range(1, 4), record);
    ringBuffer.remove(new Set([1, 2]));
    fill(ringBuffer, [5, 6], record);

    expect(sequencesOf(ringBuffer.slice(1, 10))).toEqual([3, 4, 5, 6]);
  });

  it('keeps the newest 20,000 events, and returns its first sequence', () => {
    const ringBuffer = new EventRingBuffer('0ddba115', 0);

    for (const [first, count] of [
      [1, 20_000],
      [20_001, 700],
      [20_701, 30_000],
    ] as const) {
      fill(ringBuffer, range(first, count));
      const last = first + count - 1;
      expect(ringBuffer.firstSequence).toBe(last - 20_000 + 1);
      expect(sequencesOf(ringBuffer.slice(1, 100_000))).toEqual(range(last - 20_000 + 1, 20_000));
      expect(ringBuffer.at(last - 20_000)).toBeUndefined();
      expect(ringBuffer.at(last - 20_000 + 1)).toBeDefined();
    }
  });

  it('keeps 16 MiB of large events', () => {
    const ringBuffer = new EventRingBuffer('0ddba115', 0);

    fill(ringBuffer, range(1, 200), Buffer.alloc(256 * 1024));

    expect(ringBuffer.firstSequence).toBe(137);
    expect(sequencesOf(ringBuffer.slice(1, 1_000))).toEqual(range(137, 64));
  });

  it('releases the memory of dropped events', async () => {
    const ringBuffer = new EventRingBuffer('0ddba115', 0);
    const dropped: WeakRef<LiveEvent>[] = [];
    for (const sequence of range(1, 400)) {
      const event = eventAt(sequence, Buffer.alloc(256 * 1024));
      dropped.push(new WeakRef(event));
      ringBuffer.add(event);
    }
    // A WeakRef keeps its target alive until the end of the event-loop turn.
    await new Promise((resolve) => setImmediate(resolve));

    collectGarbage();

    expect(dropped.filter((reference) => reference.deref() !== undefined).length).toBeLessThanOrEqual(130);
    expect(ringBuffer.last?.sequence).toBe(400);
  });
});
