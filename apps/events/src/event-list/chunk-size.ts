// Minimum number of rows per statement. A statement's fixed cost equals about this many row checks, so smaller chunks save little time.
const minRows = 500;

// Minimum for a page's first statement. When most rows match, the page needs only slightly more rows than it shows.
const minFirstRows = 100;

// Caps a statement's duration in case its rows take longer to check than earlier rows.
const maxRows = 25_000;

// Maximum for a page's first statement, when the time per row is still unknown. Reading a row that is not in memory takes up to 20 µs. An
// index lookup takes a fraction of that, once VACUUM has marked the row's page all-visible.
const maxFirstRows = { read: 1_500, lookUp: 4_000 };

/** Sizes the next statement of a page, so that the page keeps within its time limit. */
export class ChunkSize {
  rows: number;

  /**
   * @param check whether the statement reads each row or looks it up in indexes
   * @param expectedRows the estimated number of rows to check until the page is full
   */
  constructor(check: keyof typeof maxFirstRows, expectedRows: number) {
    this.rows = Math.ceil(Math.min(Math.max(expectedRows * 1.5, minFirstRows), maxFirstRows[check]));
  }

  /** Adapts the size to the remaining time, but at most doubles it. */
  adapt({ tookMs, leftMs }: { tookMs: number; leftMs: number }): void {
    const affordable = tookMs > 0 ? (this.rows * leftMs) / tookMs : maxRows;
    this.rows = Math.ceil(Math.min(Math.max(affordable, minRows), this.rows * 2, maxRows));
  }
}
