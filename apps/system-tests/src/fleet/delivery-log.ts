import type { Observation } from './check-deliveries.js';

const kinds = ['connected', 'event', 'position', 'gap'] as const;
export const gapReasons = ['unknown_position', 'other_epoch', 'expired'] as const;
export type GapReason = (typeof gapReasons)[number];

// An observation is five numbers: kind, epoch (for a gap, its reason), sequence, event number, and check.
const wordsEach = 5;

/** Numbers the epochs, because the logs store only numbers. */
export class EpochNames {
  private readonly names: string[] = [];

  numberOf(name: string): number {
    const known = this.names.indexOf(name);
    return known >= 0 ? known : this.names.push(name) - 1;
  }

  nameOf(number: number): string {
    return this.names[number] ?? '';
  }
}

/** All observations of a client, in order. A run has millions of deliveries, so each takes only five numbers. */
export class DeliveryLog {
  private words = new Uint32Array(64 * wordsEach);
  private length = 0;

  constructor(private readonly epochs: EpochNames) {}

  noteConnected(): void {
    this.append(0, 0, 0, 0, 0);
  }

  noteEvent(place: { epoch: number; sequence: number; check: number }, event: number): void {
    this.append(1, place.epoch, place.sequence, event, place.check);
  }

  notePosition(place: { epoch: number; sequence: number }): void {
    this.append(2, place.epoch, place.sequence, 0, 0);
  }

  noteGap(reason: GapReason): void {
    this.append(3, gapReasons.indexOf(reason), 0, 0, 0);
  }

  *[Symbol.iterator](): IterableIterator<Observation> {
    for (let at = 0; at < this.length; at += wordsEach) {
      const [kind = 0, detail = 0, sequence = 0, event = 0, check = 0] = this.words.subarray(
        at,
        at + wordsEach,
      );
      const name = kinds[kind];
      if (name === 'connected') yield { kind: name };
      else if (name === 'gap') yield { kind: name, reason: gapReasons[detail] ?? 'unknown_position' };
      else if (name === 'position') yield { kind: name, epoch: this.epochs.nameOf(detail), sequence };
      else yield { kind: 'event', epoch: this.epochs.nameOf(detail), sequence, event, check };
    }
  }

  private append(...words: [number, number, number, number, number]): void {
    if (this.length + wordsEach > this.words.length) {
      const longer = new Uint32Array(this.words.length * 2);
      longer.set(this.words);
      this.words = longer;
    }
    this.words.set(words, this.length);
    this.length += wordsEach;
  }
}
