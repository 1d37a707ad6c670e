// Size of a block: room for about a hundred records.
const blockBytes = 64 * 1024;
// A larger record gets its own memory, so that a block is never left half empty.
const maxSharedBytes = blockBytes / 8;

/**
 * Copies records from the network buffer into shared blocks of memory, because allocating and collecting memory for each record takes
 * longer. A block stays in memory as long as one of its records is used. The ring buffer drops records in order of arrival, so it keeps at
 * most one block of which some records have been dropped.
 */
export class RecordMemory {
  private block = Buffer.alloc(0);
  private used = 0;

  copy(record: Uint8Array): Buffer {
    const own = this.take(record.length);
    own.set(record);
    return own;
  }

  private take(bytes: number): Buffer {
    if (bytes > maxSharedBytes) return Buffer.allocUnsafeSlow(bytes);
    if (this.used + bytes > this.block.length) {
      this.block = Buffer.allocUnsafeSlow(blockBytes);
      this.used = 0;
    }
    this.used += bytes;
    return this.block.subarray(this.used - bytes, this.used);
  }
}
