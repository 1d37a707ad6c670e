import type { InputSource } from '../corpus.js';
import type { Random } from '../random.js';

/** A part of the running system that gets many inputs over the network. */
export interface WireTarget extends InputSource {
  name: string;
  description: string;
  /** How many inputs are in flight. */
  concurrency: number;
  /**
   * Sends an input and waits for what the system makes of it.
   *
   * @returns the outcome, such as a status; `overloaded` when the system asks to try again later
   * @throws for a defect
   */
  send(input: Buffer, random: Random): Promise<string>;
  /** Runs after the last input. Returns what is wrong. */
  finish?(): Promise<string[]>;
  close?(): Promise<void> | void;
}

/** The outcome of an input that the system rejects because it has too much to do. */
export const overloaded = 'overloaded';

/** The addresses of clients: all of 127.0.0.0/8 is this machine, and many addresses have more ports than one. */
export function localAddress(number: number): string {
  const host = number % 60_000;
  return `127.9.${Math.floor(host / 250)}.${(host % 250) + 1}`;
}
