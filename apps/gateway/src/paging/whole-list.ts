import { ServiceError } from '@stream-events/contracts';

/** One page of a list: records as the API shows them, and where the next page begins; null means the end. */
export interface ListPage<Position = string> {
  records: readonly object[];
  next: Position | null;
}

/** Asks for a page: the first one, or the one that begins at `next` of the page before. */
export type ReadPage<Position = string> = (
  after: Position | undefined,
  correlationId: string,
) => Promise<ListPage<Position>>;

// A quarter of a million streamers. Two lists are in memory at most, and what slow clients have not taken yet.
const maxListBytes = 64 * 1024 * 1024;
// Many times what such a list takes; clients that wait for the next reading wait twice as long.
const maxReadingMs = 15_000;

/**
 * A list that the API answers whole, gathered from the pages of the service that keeps it. However many clients ask, it is read
 * once at a time: those who come meanwhile share the next reading, so that nobody gets a list from before the own request.
 *
 * ```
 * idle ──read──▶ reading ──read──▶ reading, and the next is promised ◀─┐ read: the same promise
 *   ▲               │ end            │ end        └────────────────────┘
 *   └───────────────┘◀── reading ◀───┘
 * ```
 */
export class WholeList<Position = string> {
  private reading: Promise<Buffer> | undefined;
  private next: Promise<Buffer> | undefined;

  constructor(private readonly readPage: ReadPage<Position>) {}

  /**
   * The list as JSON, in UTF-8. The correlation id of whoever begins a reading is that of its requests.
   *
   * @throws ServiceError as the pages' service does; `unavailable` for a list that is too large or takes too long
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
    reading.then(end, end);
    return reading;
  }

  private async beginAfter(reading: Promise<Buffer>, correlationId: string): Promise<Buffer> {
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
    if (bytes > maxListBytes || performance.now() > deadline)
      throw new ServiceError('unavailable', 'The list is too long to be answered now.');
    const { records, next } = await readPage(after);
    if (records.length > 0) {
      const part = Buffer.from(records.map((record) => JSON.stringify(record)).join(','));
      parts.push(Buffer.from(parts.length > 0 ? ',' : ''), part);
      bytes += part.length;
    }
    after = next ?? undefined;
  } while (after !== undefined);
  // With the newline that ends every JSON response: the server need not copy the list to add it.
  return Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']\n')]);
}
