import type { OpenLoopCounts } from '../load/open-loop-generator.js';
import type { LoadKind } from '../load/request-maker.js';
import { median } from '../measure/quantile.js';

/** The counts of the loads of the other clients in a part of a run. */
export type Window = Record<LoadKind, OpenLoopCounts>;

/** The median of the windows' p99, in milliseconds. */
export function p99(windows: readonly Window[], kind: LoadKind): number {
  return median(windows.map((window) => window[kind].latencyMs.p99));
}

export function succeeded(window: Window, kinds: readonly LoadKind[]): number {
  return kinds.reduce((total, kind) => total + window[kind].succeeded, 0);
}

/** Requests that failed, or that still waited for a connection when the window ended. */
export function lost(window: Window, kinds: readonly LoadKind[]): number {
  return kinds
    .map((kind) => window[kind])
    .map(({ failed, backlog }) => backlog + Object.values(failed).reduce((total, count) => total + count, 0))
    .reduce((total, count) => total + count, 0);
}

export function sum(windows: readonly Window[], count: (window: Window) => number): number {
  return windows.reduce((total, window) => total + count(window), 0);
}
