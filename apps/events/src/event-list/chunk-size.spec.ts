import { ChunkSize } from './chunk-size.js';

describe(ChunkSize.name, () => {
  it('starts with the rows that probably contain a page, within limits', () => {
    expect(new ChunkSize('read', 500).rows).toBe(750);
    expect(new ChunkSize('read', 50).rows).toBe(100);
    expect(new ChunkSize('read', Infinity).rows).toBe(1_500);
    expect(new ChunkSize('lookUp', Infinity).rows).toBe(4_000);
  });

  it('doubles while there is time', () => {
    const chunk = new ChunkSize('read', 1_000);
    chunk.adapt({ tookMs: 1, leftMs: 29 });

    expect(chunk.rows).toBe(3_000);
  });

  it('shrinks to the rows for which the time suffices, at the speed of the last statement', () => {
    const chunk = new ChunkSize('lookUp', 2_000);
    chunk.adapt({ tookMs: 15, leftMs: 5 });

    expect(chunk.rows).toBe(1_000);
  });

  it('never exceeds its largest size, and never falls below its smallest', () => {
    const chunk = new ChunkSize('read', Infinity);
    for (let step = 0; step < 10; step += 1) chunk.adapt({ tookMs: 0, leftMs: 30 });
    expect(chunk.rows).toBe(25_000);

    chunk.adapt({ tookMs: 100, leftMs: 0 });
    expect(chunk.rows).toBe(500);
  });
});
