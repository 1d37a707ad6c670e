import type { OpenLoopCounts } from '../load/open-loop-generator.js';
import type { LoadKind } from '../load/request-maker.js';
import { median } from '../measure/quantile.js';

/** Counts of the other clients during one window, by kind of load. */
export type Window = Record<LoadKind, OpenLoopCounts>;

/** Median of the windows' p99 latencies, in milliseconds. */
export function p99(windows: readonly Window[], kind: LoadKind): number {
  return median(windows.map((window) => window[kind].latencyMs.p99));
}

/** Highest of the windows' p95 latencies over all kinds of load, in milliseconds. */
export function worstP95(windows: readonly Window[]): number {
  return Math.max(
    ...windows.flatMap((window) => Object.values(window).map(({ latencyMs }) => latencyMs.p95)),
  );
}

export function succeeded(window: Window, kinds: readonly LoadKind[]): number {
  return kinds.reduce((total, kind) => total + window[kind].succeeded, 0);
}

/** Requests that failed, or were still waiting for a connection at the end of the window. */
export function lost(window: Window, kinds: readonly LoadKind[]): number {
  return kinds
    .map((kind) => window[kind])
    .map(({ failed, backlog }) => backlog + Object.values(failed).reduce((total, count) => total + count, 0))
    .reduce((total, count) => total + count, 0);
}

export function sum(windows: readonly Window[], count: (window: Window) => number): number {
  return windows.reduce((total, window) => total + count(window), 0);
}
