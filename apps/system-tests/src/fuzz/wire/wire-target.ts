import type { InputSource } from '../corpus.js';
import type { Random } from '../random.js';

/** A part of the running system to which the test sends many inputs over the network. */
export interface WireTarget extends InputSource {
  name: string;
  description: string;
  /** The number of inputs in flight. */
  concurrency: number;
  /** Sends an input and waits for the outcome.
   *
   * @returns the outcome, such as a status; `overloaded` when the system asks the client to retry later
   * @throws for a defect
   */
  send(input: Buffer, random: Random): Promise<string>;
  /** Runs after the last input. Returns findings. */
  finish?(): Promise<string[]>;
  close?(): Promise<void> | void;
}

/** The outcome of an input that the system rejects because the system is overloaded. */
export const overloaded = 'overloaded';

/** Returns an address for a client. Every address in 127.0.0.0/8 is this machine, and many addresses have more ports than one address. */
export function localAddress(number: number): string {
  const host = number % 60_000;
  return `127.9.${Math.floor(host / 250)}.${(host % 250) + 1}`;
}
