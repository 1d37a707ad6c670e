import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { printNumber } from '../kit/print-number.js';
import { printClock, type Sample, type TimeRange } from './stream-times.js';

/** Space for the axes, in pixels. */
export type PlotMargins = Readonly<Record<'top' | 'right' | 'bottom' | 'left', number>>;

// Minimum top of the scale. Otherwise a chart of two viewers would look like one of two thousand.
const minTop = 5;

interface ViewerPlotProps {
  /** Oldest first; at least one. */
  samples: readonly Sample[];
  range: TimeRange;
  height: number;
  margins: PlotMargins;
}

/** Draws the viewers of a stream with axes. Screen readers skip this picture and use the controls above it. */
export function ViewerPlot({ samples, range: { start, end }, height, margins }: ViewerPlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  // Stylesheets do not apply to a canvas, so redraw the chart when the theme changes.
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () => ({ width: element.clientWidth, height });
    const options = { ...createOptions(element, { start, end }, margins), ...measure() };
    const plot = new uPlot(options, toData(samples, end), element);
    const observer = new ResizeObserver(() => plot.setSize(measure()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [samples, start, end, height, margins, scheme]);
  return <div ref={frame} style={{ height }} aria-hidden />;
}

/** The last sample is valid until the end, so add a point there. */
function toData(samples: readonly Sample[], end: number): uPlot.AlignedData {
  const last = samples.at(-1);
  return [
    [...samples.map(({ at }) => at / 1_000), end / 1_000],
    [...samples.map(({ viewers }) => viewers), last?.viewers ?? null],
  ];
}

function createOptions(
  element: HTMLElement,
  { start, end }: TimeRange,
  { top, right, bottom, left }: PlotMargins,
): Omit<uPlot.Options, 'width' | 'height'> {
  const styles = getComputedStyle(element);
  const color = (name: string): string => styles.getPropertyValue(name);
  const axis: uPlot.Axis = {
    stroke: color('--mantine-color-dimmed'),
    font: `11px ${styles.fontFamily}`,
    grid: { stroke: color('--console-line'), width: 1 },
    ticks: { show: false },
  };
  // Use a stepped line: each sample is valid until the next one.
  const paths = uPlot.paths.stepped?.({ align: 1 });
  return {
    padding: [top, right, 0, 0],
    cursor: { show: false },
    legend: { show: false },
    scales: {
      x: { time: true, range: [start / 1_000, end / 1_000] },
      y: { range: (_plot, _min, max) => [0, Math.max(max * 1.1, minTop)] },
    },
    series: [
      {},
      {
        stroke: color('--mantine-primary-color-filled'),
        fill: color('--mantine-primary-color-light'),
        width: 1.5,
        points: { show: false },
        ...(paths && { paths }),
      },
    ],
    axes: [
      {
        ...axis,
        size: bottom,
        space: 70,
        values: (_plot, splits) => splits.map((seconds) => printClock(seconds * 1_000)),
      },
      {
        ...axis,
        size: left,
        space: 36,
        // Viewer counts are integers, so omit fractions.
        values: (_plot, splits) => splits.map((value) => (Number.isInteger(value) ? printNumber(value) : '')),
      },
    ],
  };
}
