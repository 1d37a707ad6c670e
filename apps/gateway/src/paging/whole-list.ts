import { ServiceError } from '@stream-events/contracts';

/** One page of a list: the records as the API returns them, and the position of the next page. `next` is null on the last page. */
export interface ListPage<Position = string> {
  records: readonly object[];
  next: Position | null;
}

/** Reads the page that begins after the position `after`, or the first page if `after` is undefined. */
export type ReadPage<Position = string> = (
  after: Position | undefined,
  correlationId: string,
) => Promise<ListPage<Position>>;

// Maximum size of a list: enough for 250,000 streamers. At most two lists are in memory, plus the responses that slow clients have not
// read.
const maxListBytes = 64 * 1024 * 1024;
// Time limit of a read, many times longer than the slowest read. A client that arrives during a read waits for this read and the next one,
// so up to twice this time.
const maxReadingMs = 15_000;

/**
 * A list that the API returns as a whole, collected from pages. Only one read runs at a time, however many clients request the list.
 * Clients that arrive during a read share the next read, so that no client gets a list that is older than its request.
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
   * Returns the list as JSON, in UTF-8. A read uses the correlation id of the request that starts it.
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
    // The callers of this read handle its failure. This handler only notes the end of the read.
    reading.then(end, end);
    return reading;
  }

  private async beginAfter(reading: Promise<Buffer>, correlationId: string): Promise<Buffer> {
    // Only the callers of the previous read get its failure.
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
  // Ends with the newline of every JSON response. Otherwise, the server would copy the list to add the newline.
  return Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']\n')]);
}
