import { table } from './document.js';

/** Something that was promised, what was measured of it, and whether it is kept. */
export interface KeptPromise {
  promise: string;
  measured: string;
  isKept: boolean;
}

/** A part of a trial, as the page has it. */
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

/** What was promised and whether it is kept. */
export function printPromises(parts: readonly PartReport[]): string {
  const rows = parts.flatMap(({ promises }) =>
    promises.map(({ promise, measured, isKept }) => [promise, measured, isKept ? 'met' : '**not met**']),
  );
  return table(['promise', 'measured', ''], rows);
}

/** The sections of the parts, each paragraph after an empty line. */
export function printParts(parts: readonly PartReport[]): string[] {
  return parts.flatMap(({ title, paragraphs }) => [
    '',
    `## ${title}`,
    ...paragraphs.flatMap((paragraph) => ['', paragraph]),
  ]);
}
