const intervalMs = 5_000;
const bytesPerMiB = 1024 ** 2;

/** Prints the progress of a copy, at most every 5 s. */
export class Progress {
  private nextLineAt = performance.now() + intervalMs;
  private bytes = 0;

  constructor(
    private readonly say: (line: string) => void,
    private readonly verb: string,
    /** Undefined when the total size is unknown. */
    private readonly totalBytes?: number,
  ) {}

  /** Passes the chunks on and counts their bytes. */
  async *count(name: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.bytes += chunk.length;
      if (performance.now() >= this.nextLineAt) this.print(name);
      yield chunk;
    }
  }

  private print(name: string): void {
    this.nextLineAt = performance.now() + intervalMs;
    const done = `${Math.round(this.bytes / bytesPerMiB)} MiB`;
    const share =
      this.totalBytes === undefined || this.totalBytes === 0
        ? ''
        : ` (${Math.round((this.bytes / this.totalBytes) * 100)} %)`;
    this.say(`${this.verb}: ${done}${share}, now ${name}`);
  }
}
