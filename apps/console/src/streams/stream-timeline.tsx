import { Skeleton, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { lazy, Suspense, useMemo, useState, type KeyboardEvent, type MouseEvent } from 'react';
import type { EventRecord } from '@stream-events/client';
import { printCount, printNumber } from '../kit/print-number.js';
import { UserText } from '../kit/user-text.js';
import { MarkerLanes } from './marker-lanes.js';
import { groupMarkers } from './stream-markers.js';
import {
  bandsOf,
  printClock,
  sampleAt,
  shareOf,
  type Band,
  type Sample,
  type TimeRange,
} from './stream-times.js';
import classes from './stream-timeline.module.css';

// Load the chart library only when a chart is visible.
const ViewerPlot = lazy(() =>
  import('./viewer-plot.js').then(({ ViewerPlot: component }) => ({ default: component })),
);

const plotHeight = 240;
// In pixels. The bands and lanes below the plot use the same margins (see the stylesheet).
const margins = { top: 10, right: 14, bottom: 26, left: 48 } as const;
// In pixels, with space around a mark. Marks are 24 pixels wide so that users can hit them with a finger (WCAG 2.2 §2.5.8).
const slotWidth = 27;
const minuteMs = 60_000;
// A moment on the chart includes this much time before and after the chosen time.
const momentMs = 60_000;

interface StreamTimelineProps {
  samples: readonly Sample[];
  /** Events to mark, newest first. */
  marked: readonly EventRecord[];
  /** From start to end of the stream. */
  range: TimeRange;
  /** The chosen moment. */
  moment: TimeRange | undefined;
  onChoose: (moment: TimeRange) => void;
}

/** Charts the viewers, with the stream's titles, categories, raids, subscriptions, and hype trains. */
export function StreamTimeline({ samples, marked, range, moment, onChoose }: StreamTimelineProps) {
  const { ref, width } = useElementSize();
  const [pointed, setPointed] = useState<number>();
  const slots = Math.max(Math.floor((width - margins.left - margins.right) / slotWidth), 8);
  const markers = useMemo(() => groupMarkers(marked, range, slots), [marked, range, slots]);
  const categories = bandsOf(samples, range.end, 'category');
  const choose = (at: number): void => {
    const center = Math.min(Math.max(at, range.start), range.end);
    onChoose({ start: center - momentMs, end: center + momentMs });
  };
  const center = moment && (moment.start + moment.end) / 2;
  return (
    <figure className={classes.timeline} aria-label="Viewers during the stream">
      <Readout samples={samples} at={pointed ?? center} />
      <div ref={ref} className={classes.stack}>
        {samples.length > 0 ? (
          <Suspense fallback={<Skeleton height={plotHeight} />}>
            <ViewerPlot samples={samples} range={range} height={plotHeight} margins={margins} />
          </Suspense>
        ) : (
          <Text
            className={classes.noSamples}
            style={{ height: plotHeight }}
            size="sm"
            c="dimmed"
            component="div"
          >
            The platform has not listed this stream, so its viewers are not known.
          </Text>
        )}
        <MomentSlider {...{ samples, range, center }} onChoose={choose} onPoint={setPointed} />
        <Bands label="Titles" bands={bandsOf(samples, range.end, 'title')} range={range} />
        <Bands label="Categories" bands={categories} range={range} />
        <MarkerLanes markers={markers} range={range} onChoose={onChoose} />
        <div className={classes.overlay} aria-hidden>
          {categories.slice(1).map(({ start }) => (
            <span key={start} className={classes.change} style={{ left: percent(shareOf(start, range)) }} />
          ))}
          {moment && (
            <span
              className={classes.moment}
              style={{
                left: percent(shareOf(moment.start, range)),
                right: percent(1 - shareOf(moment.end, range)),
              }}
            />
          )}
        </div>
      </div>
    </figure>
  );
}

function percent(share: number): string {
  return `${share * 100}%`;
}

/** Shows the values under the pointer or at the chosen time. Without either, shows the peak. */
function Readout({ samples, at }: { samples: readonly Sample[]; at: number | undefined }) {
  const peak = samples.reduce<Sample | undefined>(
    (best, sample) => (best && best.viewers >= sample.viewers ? best : sample),
    undefined,
  );
  const shown = at === undefined ? peak : sampleAt(samples, at);
  return (
    <div className={classes.readout}>
      <span className={classes.viewers}>{shown ? printNumber(shown.viewers) : '—'}</span>{' '}
      {at === undefined ? 'viewers at most' : 'viewers'}
      {shown && (
        <span className={classes.circumstances}>
          {printClock(at ?? shown.at)}
          {shown.category && (
            <>
              {' · '}
              <UserText text={shown.category} />
            </>
          )}
        </span>
      )}
    </div>
  );
}

interface MomentSliderProps {
  samples: readonly Sample[];
  range: TimeRange;
  center: number | undefined;
  onChoose: (at: number) => void;
  onPoint: (at: number | undefined) => void;
}

/** A layer above the plot. A click chooses a moment. Arrow keys move it by one minute, Page Up and Page Down by 15. */
function MomentSlider({ samples, range, center, onChoose, onPoint }: MomentSliderProps) {
  const value = Math.round(center ?? range.start);
  const viewers = sampleAt(samples, value)?.viewers;
  const timeAt = ({ currentTarget, clientX }: MouseEvent): number => {
    const box = currentTarget.getBoundingClientRect();
    return range.start + ((clientX - box.left) / box.width) * (range.end - range.start);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = valueByKey(event.key, value, range);
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next);
  };
  return (
    <div
      className={classes.slider}
      style={{ top: margins.top, height: plotHeight - margins.top - margins.bottom }}
      role="slider"
      tabIndex={0}
      aria-label="Moment"
      aria-valuemin={range.start}
      aria-valuemax={range.end}
      aria-valuenow={value}
      aria-valuetext={`${printClock(value)}${viewers === undefined ? '' : `, ${printCount(viewers, 'viewer')}`}`}
      onClick={(event) => onChoose(timeAt(event))}
      onKeyDown={onKeyDown}
      onPointerMove={(event) => onPoint(timeAt(event))}
      onPointerLeave={() => onPoint(undefined)}
    />
  );
}

const stepsByKey: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
  PageUp: 15,
  PageDown: -15,
};

function valueByKey(key: string, value: number, { start, end }: TimeRange): number | undefined {
  if (key === 'Home') return start;
  if (key === 'End') return end;
  const steps = stepsByKey[key];
  return steps === undefined ? undefined : value + steps * minuteMs;
}

/** Shows titles or categories as bands whose widths are their durations. */
function Bands({ label, bands, range }: { label: string; bands: readonly Band[]; range: TimeRange }) {
  if (bands.length === 0) return null;
  return (
    <ol className={classes.bands} aria-label={label}>
      {bands.map(({ text, start, end }) => (
        <li
          key={start}
          style={{ left: percent(shareOf(start, range)), right: percent(1 - shareOf(end, range)) }}
          title={`${printClock(start)} – ${printClock(end)}`}
        >
          {text ? <UserText text={text} /> : <span className={classes.none}>none</span>}
        </li>
      ))}
    </ol>
  );
}
