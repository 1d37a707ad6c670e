import type { InputSource } from '../corpus.js';
import type { Random } from '../random.js';

/** A part of the running system that gets many inputs over the network. */
export interface WireTarget extends InputSource {
  name: string;
  description: string;
  /** Inputs in flight. */
  concurrency: number;
  /**
   * Sends an input.
   *
   * @returns the outcome, such as a status; `overloaded` if the client should retry later
   * @throws Error for a defect
   */
  send(input: Buffer, random: Random): Promise<string>;
  /** Runs after the last input. Returns findings. */
  finish?(): Promise<string[]>;
  close?(): Promise<void> | void;
}

/** The system was overloaded and rejected the input. */
export const overloaded = 'overloaded';

/** A client address in 127.0.0.0/8, which is all this machine. A single address would have too few ports. */
export function localAddress(number: number): string {
  const host = number % 60_000;
  return `127.9.${Math.floor(host / 250)}.${(host % 250) + 1}`;
}
