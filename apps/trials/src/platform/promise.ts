/** Something that was promised, what was measured of it, and whether it is kept. */
export interface KeptPromise {
  promise: string;
  measured: string;
  isKept: boolean;
}

/** A part of the trial, as the page has it. */
export interface PartReport {
  title: string;
  /** Paragraphs and tables in Markdown, in their order, each without an empty line at its end. */
  paragraphs: string[];
  promises: KeptPromise[];
}

export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** Seconds from milliseconds. */
export function formatSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
