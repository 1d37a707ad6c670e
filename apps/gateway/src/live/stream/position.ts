import type { LiveEvent } from './live-event.js';

/**
 * A position in the EVENTS stream: `<epoch>-<sequence>-<check>`. Sequences count within their epoch. The check is the last 8
 * hex digits of the id of the event at this sequence. It detects a stream that lost its tail and then used the same sequences
 * for other events.
 */
export interface Position {
  epoch: string;
  /** 0: before the first event. */
  sequence: number;
  check: string;
}

/** The format of a printed position. */
export const positionPattern = /^([0-9a-f]{8})-(0|[1-9]\d{0,15})-([0-9a-f]{8})$/;

/** The check of a position whose event is not known: before the first event, or of a gateway that has not read an event yet. */
export const checkOfStart = '00000000';

export function printPosition({ epoch, sequence, check }: Position): string {
  return `${epoch}-${sequence}-${check}`;
}

/** Parses a position that `printPosition` printed. Undefined if the text is not valid. */
export function parsePosition(text: string): Position | undefined {
  const [, epoch, digits, check] = positionPattern.exec(text) ?? [];
  const sequence = Number(digits);
  if (epoch === undefined || check === undefined || !Number.isSafeInteger(sequence)) return undefined;
  return { epoch, sequence, check };
}

/** Returns the position of an event. */
export function positionOf({ epoch, sequence, id }: Pick<LiveEvent, 'epoch' | 'sequence' | 'id'>): Position {
  return { epoch, sequence, check: id.slice(-8) };
}
