import type { LiveEvent } from './live-event.js';

/**
 * A place on the EVENTS stream: `<epoch>-<sequence>-<check>`. Sequences count within their epoch only. The check, the last
 * 8 hex digits of the id of the event at the place, tells a stream that has lost its end and gone on from the one that was.
 */
export interface Position {
  epoch: string;
  /** 0: before the first event. */
  sequence: number;
  check: string;
}

/** What a printed position looks like. */
export const positionPattern = /^([0-9a-f]{8})-(0|[1-9]\d{0,15})-([0-9a-f]{8})$/;

/** The check of the place before the first event. */
export const checkOfStart = '00000000';

export function printPosition({ epoch, sequence, check }: Position): string {
  return `${epoch}-${sequence}-${check}`;
}

/** Reads what `printPosition` printed; undefined when it is no such text. */
export function parsePosition(text: string): Position | undefined {
  const [, epoch, digits, check] = positionPattern.exec(text) ?? [];
  const sequence = Number(digits);
  if (epoch === undefined || check === undefined || !Number.isSafeInteger(sequence)) return undefined;
  return { epoch, sequence, check };
}

/** The place of an event. */
export function positionOf({ epoch, sequence, id }: Pick<LiveEvent, 'epoch' | 'sequence' | 'id'>): Position {
  return { epoch, sequence, check: id.slice(-8) };
}
