// Size of a block: room for about a hundred records.
const blockBytes = 64 * 1024;
// Larger records get their own memory, so that at most an eighth of a block stays empty.
const maxSharedBytes = blockBytes / 8;

/**
 * Copies records from the network buffer into shared blocks of memory, which is faster than allocating memory for each record. A block
 * stays in memory while any of its records is in use. The ring buffer drops records in order of arrival, so usually only its oldest block
 * contains dropped records as well as records in use.
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
