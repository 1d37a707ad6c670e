import { RecordMemory } from './record-memory.js';

describe(RecordMemory.name, () => {
  it('keeps every record, whatever happens to the buffer that it came from', () => {
    const memory = new RecordMemory();
    const lengths = Array.from({ length: 500 }, (_, index) => (index * 7919) % 9_000);
    const source = Buffer.alloc(9_000);

    const copies = lengths.map((length, index) => {
      source.fill(index % 251);
      return memory.copy(source.subarray(0, length));
    });
    source.fill(255);

    const expected = lengths.map((length, index) => Buffer.alloc(length, index % 251));
    expect(copies.filter((copy, index) => !expected[index]?.equals(copy))).toEqual([]);
  });

  it('shares a block of memory among small records, and gives a large one its own', () => {
    const memory = new RecordMemory();
    const copies = Array.from({ length: 1_000 }, () => memory.copy(Buffer.alloc(500)));
    const large = memory.copy(Buffer.alloc(200_000));

    expect(new Set(copies.map(({ buffer }) => buffer)).size).toBe(8);
    expect(large.buffer.byteLength).toBe(200_000);
  });
});
