import type { LiveEvent } from './live-event.js';

/**
 * A position in the EVENTS stream: `<epoch>-<sequence>-<check>`. Sequences count within their epoch. The check is the last 8 hex digits of
 * the event's id. It detects a stream that lost its tail and then reused the sequences for other events.
 */
export interface Position {
  epoch: string;
  /** 0: before the first event. */
  sequence: number;
  check: string;
}

export const positionPattern = /^([0-9a-f]{8})-(0|[1-9]\d{0,15})-([0-9a-f]{8})$/;

/** The check when no event is known: at the start of the stream, or before a gateway has read its first event. */
export const checkOfStart = '00000000';

export function printPosition({ epoch, sequence, check }: Position): string {
  return `${epoch}-${sequence}-${check}`;
}

/** Parses the output of `printPosition`. Undefined if the text is invalid. */
export function parsePosition(text: string): Position | undefined {
  const [, epoch, digits, check] = positionPattern.exec(text) ?? [];
  const sequence = Number(digits);
  if (epoch === undefined || check === undefined || !Number.isSafeInteger(sequence)) return undefined;
  return { epoch, sequence, check };
}

export function positionOf({ epoch, sequence, id }: Pick<LiveEvent, 'epoch' | 'sequence' | 'id'>): Position {
  return { epoch, sequence, check: id.slice(-8) };
}
