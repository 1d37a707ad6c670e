import { setTimeout as wait } from 'node:timers/promises';
import type { PublishedMessage } from '../chaos/checker.js';
import type { StreamReader } from '../chaos/stream-reader.js';
import type { StreamEvent } from '../fleet/fleet-messages.js';
import { readRecord } from '../fleet/test-events.js';

interface SeenEpoch {
  epoch: string;
  /** Without duplicates. */
  events: StreamEvent[];
  messages: PublishedMessage[];
}

// Pause between two reads. If an epoch ends, the events of its last second can be missing; the rest is enough to find losses.
const readEveryMs = 1_000;

/** Keeps what the EVENTS stream contained, for each epoch, because the broker can lose events later. */
export class StreamHistory {
  private readonly epochs: SeenEpoch[] = [];
  private isFollowing = false;
  private following: Promise<void> = Promise.resolve();

  constructor(private readonly stream: StreamReader) {}

  /** Reads the stream every second until `stopFollowing`. */
  follow(): void {
    this.isFollowing = true;
    this.following = this.readAgainAndAgain();
  }

  async stopFollowing(): Promise<void> {
    this.isFollowing = false;
    await this.following;
  }

  /** Everything on the stream so far, by epoch. */
  async read(): Promise<readonly SeenEpoch[]> {
    const { epoch, messages } = await this.stream.readNew();
    if (this.epochs.at(-1)?.epoch !== epoch) this.epochs.push({ epoch, events: [], messages: [] });
    const seen = this.epochs.at(-1);
    const known = new Set(seen?.events.map(({ event }) => event));
    for (const message of messages) {
      seen?.messages.push(message);
      const fields = readRecord(message.text);
      // After a crash, the relay can publish an event twice. Count only the first copy.
      if (known.has(fields.event)) continue;
      known.add(fields.event);
      const check = Number.parseInt(message.id.slice(-8), 16);
      seen?.events.push({ ...fields, sequence: message.sequence, check });
    }
    return this.epochs;
  }

  private async readAgainAndAgain(): Promise<void> {
    while (this.isFollowing) {
      // Fails while the broker restarts or the stream is being recreated. The next read gets the rest.
      await this.read().catch(() => undefined);
      await wait(readEveryMs);
    }
  }
}
