// A statement costs as much as checking this many rows, so fewer would not save time.
const minRows = 500;

// When most rows match, the first statement checks hardly more rows than the page has.
const minFirstRows = 100;

// Bounds the time of a statement whose rows take longer than those before it.
const maxRows = 25_000;

// The first statement of a page does not know yet how long a row takes: up to 20 µs to read one that is not in memory, and a fraction
// of that to look one up in an index, once VACUUM has processed its page.
const maxFirstRows = { read: 1_500, lookUp: 4_000 };

/** How many rows the next statement checks, so that the page stays within its time. */
export class ChunkSize {
  rows: number;

  /**
   * @param check how a row is checked
   * @param expectedRows the number of rows that probably contain a full page
   */
  constructor(check: keyof typeof maxFirstRows, expectedRows: number) {
    this.rows = Math.ceil(Math.min(Math.max(expectedRows * 1.5, minFirstRows), maxFirstRows[check]));
  }

  /** Doubles the size if the time that is left permits it. */
  adapt({ tookMs, leftMs }: { tookMs: number; leftMs: number }): void {
    const affordable = tookMs > 0 ? (this.rows * leftMs) / tookMs : maxRows;
    this.rows = Math.ceil(Math.min(Math.max(affordable, minRows), this.rows * 2, maxRows));
  }
}
