import { useState, type PointerEvent } from 'react';
import { chartMs, pollMs } from './system-query.js';
import classes from './sparkline.module.css';

export interface Point {
  /** Milliseconds since 1970. */
  at: number;
  value: number;
}

interface SparklineProps {
  title: string;
  /** Oldest first. */
  points: readonly Point[];
  print: (value: number) => string;
}

const width = 240;
const height = 44;
// The chart spans at least a minute. A shorter span would stretch the first values over its whole width.
const minSpanMs = 60_000;
// If two values are more than three poll intervals apart, the line has a gap between them.
const maxStepMs = pollMs * 3;

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** Shows the latest value, or the value under the pointer, and a line of recent values. */
export function Sparkline({ title, points, print }: SparklineProps) {
  const [pointed, setPointed] = useState<number>();
  const last = points.at(-1);
  const shown = pointed === undefined ? last : nearest(points, pointed);
  const end = last?.at ?? 0;
  const span = Math.min(chartMs, Math.max(minSpanMs, end - (points[0]?.at ?? end)));
  const peak = Math.max(0, ...points.map(({ value }) => value));
  // Avoids a division by zero. If all values are zero, the line is at the bottom.
  const top = peak || 1;
  const toX = (at: number): number => width * (1 - (end - at) / span);
  const toY = (value: number): number => height - 2 - (height - 6) * (value / top);
  const onPointerMove = ({ currentTarget, clientX }: PointerEvent): void => {
    const box = currentTarget.getBoundingClientRect();
    setPointed(end - span * (1 - (clientX - box.left) / box.width));
  };
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption}>{title}</figcaption>
      <div className={classes.value}>
        {shown ? print(shown.value) : '—'}
        {shown && shown !== last && <span className={classes.time}>at {clock.format(shown.at)}</span>}
      </div>
      <svg
        className={classes.chart}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={
          last ? `${title}: now ${print(last.value)}, at most ${print(peak)} while this page was open` : title
        }
        onPointerMove={onPointerMove}
        onPointerLeave={() => setPointed(undefined)}
      >
        <line className={classes.base} x1={0} x2={width} y1={height - 1} y2={height - 1} />
        <path className={classes.line} d={drawLine(points, toX, toY)} />
        {shown && shown !== last && (
          <line className={classes.mark} x1={toX(shown.at)} x2={toX(shown.at)} y1={0} y2={height} />
        )}
      </svg>
    </figure>
  );
}

/** Returns the line's SVG path, with gaps where values are missing. */
function drawLine(
  points: readonly Point[],
  toX: (at: number) => number,
  toY: (value: number) => number,
): string {
  return points
    .map(({ at, value }, index) => {
      const previous = points[index - 1];
      const isConnected = previous !== undefined && at - previous.at <= maxStepMs;
      // After a gap, draw a line of zero length, which appears as a dot.
      const start = isConnected ? 'L' : `M${toX(at).toFixed(1)} ${toY(value).toFixed(1)}L`;
      return `${start}${toX(at).toFixed(1)} ${toY(value).toFixed(1)}`;
    })
    .join('');
}

function nearest(points: readonly Point[], at: number): Point | undefined {
  return points.reduce<Point | undefined>(
    (best, point) => (best && Math.abs(best.at - at) <= Math.abs(point.at - at) ? best : point),
    undefined,
  );
}
