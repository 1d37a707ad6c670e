// Minimum number of rows per statement when little time is left. A statement's fixed cost equals about this many row checks, so smaller
// chunks save little time.
const minRows = 500;

// Minimum for a page's first statement. When most rows match, the page needs only slightly more rows than it shows.
const minFirstRows = 100;

// Caps a statement's duration in case its rows take longer to check than earlier rows.
const maxRows = 25_000;

// Assumed time per row until a statement on the same partitions has been measured. Reading a row that is not in memory takes up to 20 µs.
const assumedMsPerRow = 0.02;

/** Sizes the next statement of a page, so that the page keeps within its time limit. */
export class ChunkSize {
  private msPerRow = assumedMsPerRow;
  private rows: number;

  /** @param expectedRows the estimated number of rows to check until the page is full */
  constructor(expectedRows: number) {
    this.rows = Math.min(Math.max(expectedRows * 1.5, minFirstRows), maxRows);
  }

  /** Returns the number of rows for a statement that may take this long. */
  within(leftMs: number): number {
    return Math.ceil(Math.min(Math.max(leftMs / this.msPerRow, minRows), this.rows));
  }

  /** Adapts to the speed of a statement that checked all its rows. The next statement may check at most twice as many. */
  adapt({ rows, tookMs }: { rows: number; tookMs: number }): void {
    this.rows = Math.min(rows * 2, maxRows);
    this.msPerRow = tookMs / rows;
  }

  /** Prepares for the next partitions, whose rows may take longer: older rows are often not in memory. */
  enterPartitions(): void {
    this.msPerRow = Math.max(this.msPerRow, assumedMsPerRow);
  }
}
