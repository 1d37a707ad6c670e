// The fixed cost of a statement equals about this many row checks, so smaller chunks save little time.
const minRows = 500;

// The minimum for the first statement of a page. When most rows match, a page needs few more rows than it contains.
const minFirstRows = 100;

// Limits the duration of a statement whose rows take longer to check than the rows of earlier statements.
const maxRows = 25_000;

// The maximum for the first statement of a page, because the time per row is still unknown. Reading a row that is not in memory takes up to
// 20 µs. Looking up a row in an index takes a fraction of this time, once VACUUM has processed the row's page.
const maxFirstRows = { read: 1_500, lookUp: 4_000 };

/** The number of rows that the next statement checks. Keeps a page within its time limit. */
export class ChunkSize {
  rows: number;

  /**
   * @param check whether the statement reads each row or looks it up in indexes
   * @param expectedRows the estimated number of rows to check until the page is full
   */
  constructor(check: keyof typeof maxFirstRows, expectedRows: number) {
    this.rows = Math.ceil(Math.min(Math.max(expectedRows * 1.5, minFirstRows), maxFirstRows[check]));
  }

  /** Adapts the size to the remaining time. At most doubles the size. */
  adapt({ tookMs, leftMs }: { tookMs: number; leftMs: number }): void {
    const affordable = tookMs > 0 ? (this.rows * leftMs) / tookMs : maxRows;
    this.rows = Math.ceil(Math.min(Math.max(affordable, minRows), this.rows * 2, maxRows));
  }
}
