import { BatchPacing } from './batch-pacing.js';

describe(BatchPacing.name, () => {
  let now = 1_000;
  let pacing: BatchPacing;

  beforeEach(() => {
    now = 1_000;
    pacing = new BatchPacing({ now: () => now });
  });

  const delay = (count: number, isFull = false): number => pacing.delay({ count, isFull });

  const sendBatch = (events: number): void => {
    pacing.begin();
    pacing.end(events);
  };

  it('sends a single event immediately', () => {
    expect(delay(1)).toBe(0);
  });

  it('sends one small batch after another without a pause', () => {
    for (let count = 1; count < 8; count += 1) {
      sendBatch(count);
      expect(delay(1)).toBe(0);
    }
  });

  it('collects while a batch is in flight, for at most 10 ms after its start', () => {
    pacing.begin();
    expect(delay(1)).toBe(10);
    now += 7;
    expect(delay(255)).toBe(3);
    now += 3;
    expect(delay(1)).toBe(0);
  });

  it('counts the 10 ms from the latest batch', () => {
    pacing.begin();
    now += 10;
    pacing.begin();
    expect(delay(1)).toBe(10);
  });

  it('sends full batches immediately, up to three in parallel', () => {
    for (let inFlight = 0; inFlight < 3; inFlight += 1) {
      expect(delay(256, true)).toBe(0);
      pacing.begin();
    }
    expect(delay(256, true)).toBe(Infinity);
    now += 60_000;
    expect(delay(1)).toBe(Infinity);
    pacing.end(256);
    expect(delay(256, true)).toBe(0);
  });

  it('waits after a large batch for as many events again, for at most 4 ms', () => {
    sendBatch(40);
    expect(delay(39)).toBe(4);
    expect(delay(40)).toBe(0);
    now += 4;
    expect(delay(1)).toBe(0);
  });

  it('does not wait after a small batch', () => {
    sendBatch(40);
    sendBatch(3);
    expect(delay(1)).toBe(0);
  });

  it('does not wait longer than 10 ms for a slow batch', () => {
    pacing.begin();
    pacing.begin();
    pacing.end(40);
    now += 10;
    expect(delay(1)).toBe(0);
  });
});
