import { ServiceError } from '@stream-events/contracts';

/** One page: the records as the API returns them, and the position of the next page. `next` is null on the last page. */
export interface ListPage<Position = string> {
  records: readonly object[];
  next: Position | null;
}

/** Reads the page after the position `after`, or the first page. */
export type ReadPage<Position = string> = (
  after: Position | undefined,
  correlationId: string,
) => Promise<ListPage<Position>>;

// Maximum size of a list, enough for 250,000 streamers. At most two lists are in memory, plus responses that slow clients have not read.
const maxListBytes = 64 * 1024 * 1024;
// Time limit for reading a list, many times longer than the slowest read. A client that arrives during a read waits for that read and the
// next one, up to 30 s in total.
const maxReadingMs = 15_000;

/**
 * A list that the API returns as a whole, read page by page. Only one read runs at a time, no matter how many clients request the list.
 * Clients that arrive during a read share the next one. Their list is therefore never older than their request.
 *
 * ```
 * idle ──read──▶ reading ──read──▶ reading, next one promised ◀─┐ read: the same promise
 *   ▲               │ end            │ end        └─────────────┘
 *   └───────────────┘◀── reading ◀───┘
 * ```
 */
export class WholeList<Position = string> {
  private reading: Promise<Buffer> | undefined;
  private next: Promise<Buffer> | undefined;

  constructor(private readonly readPage: ReadPage<Position>) {}

  /**
   * Returns the list as UTF-8 JSON. A shared read uses the correlation id of its first client.
   *
   * @throws ServiceError from reading a page; `internal` when the list is too large; `unavailable` when the read takes more than 15 s
   */
  read(correlationId: string): Promise<Buffer> {
    if (!this.reading) return this.begin(correlationId);
    this.next ??= this.beginAfter(this.reading, correlationId);
    return this.next;
  }

  private begin(correlationId: string): Promise<Buffer> {
    const reading = gather<Position>((after) => this.readPage(after, correlationId));
    this.reading = reading;
    const end = (): void => {
      if (!this.next) this.reading = undefined;
    };
    // Only note the end here. Callers handle the failure.
    reading.then(end, end);
    return reading;
  }

  private async beginAfter(reading: Promise<Buffer>, correlationId: string): Promise<Buffer> {
    // Ignore the failure of the previous read: its own callers get it.
    await Promise.allSettled([reading]);
    this.next = undefined;
    return this.begin(correlationId);
  }
}

async function gather<Position>(
  readPage: (after: Position | undefined) => Promise<ListPage<Position>>,
): Promise<Buffer> {
  const deadline = performance.now() + maxReadingMs;
  const parts: Buffer[] = [];
  let bytes = 0;
  let after: Position | undefined;
  do {
    if (bytes > maxListBytes)
      throw new ServiceError('internal', 'The list is larger than 64 MiB, the maximum for this path. Delete unused entries.'); // prettier-ignore
    if (performance.now() > deadline)
      throw new ServiceError(
        'unavailable',
        'Reading the list took longer than 15 s. Retry after the time in `Retry-After`.',
      );
    const { records, next } = await readPage(after);
    if (records.length > 0) {
      const part = Buffer.from(records.map((record) => JSON.stringify(record)).join(','));
      parts.push(Buffer.from(parts.length > 0 ? ',' : ''), part);
      bytes += part.length;
    }
    after = next ?? undefined;
  } while (after !== undefined);
  // Add the final newline here. The server would otherwise copy the whole list to add it.
  return Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']\n')]);
}
