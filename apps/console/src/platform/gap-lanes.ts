import { parseTime } from '../kit/parse-time.js';
import type { PlatformStatus } from './platform-queries.js';

type Gap = Pick<PlatformStatus['delivery_gaps'][number], 'source' | 'from' | 'until' | 'reason'>;

/** A gap's position on the timeline, in percent of its width. */
export interface GapRange {
  left: number;
  width: number;
  gap: Gap;
}

/** The gaps of one socket. */
export interface GapLane {
  source: string;
  ranges: GapRange[];
}

// The timeline covers at least an hour. On a shorter one, gaps of a few seconds would look long.
const minSpanMs = 3_600_000;

/** Arranges gaps on a timeline that ends now, with one lane per socket. Times are in milliseconds since 1970. */
export function arrangeGaps(gaps: readonly Gap[], now: number): { start: number; lanes: GapLane[] } {
  const start = Math.min(now - minSpanMs, ...gaps.map(({ from }) => parseTime(from).getTime()));
  const toPercent = (time: number): number => (100 * (Math.min(time, now) - start)) / (now - start);
  const sources = [...new Set(gaps.map(({ source }) => source))].sort();
  const lanes = sources.map((source) => ({
    source,
    ranges: gaps
      .filter((gap) => gap.source === source)
      .map((gap) => {
        const left = toPercent(parseTime(gap.from).getTime());
        const end = gap.until === null ? 100 : toPercent(parseTime(gap.until).getTime());
        return { left, width: Math.max(0, end - left), gap };
      }),
  }));
  return { start, lanes };
}
