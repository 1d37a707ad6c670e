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

  it('lets a lone event out at once', () => {
    expect(delay(1)).toBe(0);
  });

  it('lets one small batch after the other out at once', () => {
    for (let count = 1; count < 8; count += 1) {
      sendBatch(count);
      expect(delay(1)).toBe(0);
    }
  });

  it('gathers while a batch is in flight, but no longer than 10 ms after it went out', () => {
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

  it('lets full batches out at once, three beside each other', () => {
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

  it('waits after a batch of many for as many again, 4 ms at most', () => {
    sendBatch(40);
    expect(delay(39)).toBe(4);
    expect(delay(40)).toBe(0);
    now += 4;
    expect(delay(1)).toBe(0);
  });

  it('waits for nobody once a batch was small again', () => {
    sendBatch(40);
    sendBatch(3);
    expect(delay(1)).toBe(0);
  });

  it('waits for nobody while another batch is in flight for long', () => {
    pacing.begin();
    pacing.begin();
    pacing.end(40);
    now += 10;
    expect(delay(1)).toBe(0);
  });
});
