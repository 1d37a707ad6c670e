import { printCount } from '../kit/print-number.js';
import { shareOf, type Sample, type TimeRange } from '../streams/stream-times.js';
import classes from './streamers.module.css';

const width = 96;
const height = 24;

interface ViewerSparklineProps {
  /** Oldest first. */
  samples: readonly Sample[];
  range: TimeRange;
}

/** Draws the viewers of a running stream from its start until now. */
export function ViewerSparkline({ samples, range }: ViewerSparklineProps) {
  const peak = Math.max(1, ...samples.map(({ viewers }) => viewers));
  const [first] = samples;
  if (!first) return null;
  const toX = (at: number): string => (shareOf(at, range) * width).toFixed(1);
  const toY = (viewers: number): string => (height - 1 - (height - 3) * (viewers / peak)).toFixed(1);
  // Each sample is valid until the next one, so the line has steps.
  const steps = samples.map(({ at, viewers }) => `H${toX(at)}V${toY(viewers)}`).join('');
  return (
    <svg
      className={classes.sparkline}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`At most ${printCount(peak, 'viewer')} in this stream`}
    >
      <path d={`M${toX(first.at)} ${toY(first.viewers)}${steps}H${width}`} />
    </svg>
  );
}
