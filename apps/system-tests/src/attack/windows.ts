import type { OpenLoopCounts } from '../load/open-loop-generator.js';
import type { LoadKind } from '../load/request-maker.js';
import { median } from '../measure/quantile.js';

/** The counts of the other clients' loads during one window. */
export type Window = Record<LoadKind, OpenLoopCounts>;

/** Returns the median of the windows' p99 latencies for one load, in milliseconds. */
export function p99(windows: readonly Window[], kind: LoadKind): number {
  return median(windows.map((window) => window[kind].latencyMs.p99));
}

export function succeeded(window: Window, kinds: readonly LoadKind[]): number {
  return kinds.reduce((total, kind) => total + window[kind].succeeded, 0);
}

/** Returns the number of requests that failed or still waited for a connection when the window ended. */
export function lost(window: Window, kinds: readonly LoadKind[]): number {
  return kinds
    .map((kind) => window[kind])
    .map(({ failed, backlog }) => backlog + Object.values(failed).reduce((total, count) => total + count, 0))
    .reduce((total, count) => total + count, 0);
}

export function sum(windows: readonly Window[], count: (window: Window) => number): number {
  return windows.reduce((total, window) => total + count(window), 0);
}
