import { ChunkSize } from './chunk-size.js';

describe(ChunkSize.name, () => {
  it('starts with the rows that probably contain a page, within limits', () => {
    expect(new ChunkSize(500).within(30)).toBe(750);
    expect(new ChunkSize(50).within(30)).toBe(100);
    expect(new ChunkSize(Infinity).within(30)).toBe(1_500);
  });

  it('shrinks with the remaining time while the speed is unknown', () => {
    expect(new ChunkSize(Infinity).within(15)).toBe(750);
  });

  it('doubles while there is time', () => {
    const chunk = new ChunkSize(1_000);
    chunk.adapt({ rows: 1_500, tookMs: 1 });

    expect(chunk.within(29)).toBe(3_000);
  });

  it('shrinks to the rows for which the time suffices, at the speed of the last full chunk', () => {
    const chunk = new ChunkSize(1_000);
    chunk.adapt({ rows: 1_500, tookMs: 15 });

    expect(chunk.within(10)).toBe(1_000);
  });

  it('does not expect the next partitions to be faster than usual', () => {
    const chunk = new ChunkSize(1_000);
    chunk.adapt({ rows: 1_500, tookMs: 3 });
    chunk.enterPartitions();
    expect(chunk.within(20)).toBe(1_000);

    chunk.adapt({ rows: 1_000, tookMs: 40 });
    chunk.enterPartitions();
    expect(chunk.within(30)).toBe(750);
  });

  it('never exceeds its largest size, and never falls below its smallest', () => {
    const chunk = new ChunkSize(Infinity);
    for (let step = 0; step < 10; step += 1) chunk.adapt({ rows: chunk.within(30), tookMs: 0 });
    expect(chunk.within(30)).toBe(25_000);

    chunk.adapt({ rows: 25_000, tookMs: 100 });
    expect(chunk.within(0)).toBe(500);
  });
});
