import { setTimeout as wait } from 'node:timers/promises';
import { LedgerEntry } from '../chaos/ledger.js';
import { nextMarker } from '../chaos/fault-load.js';

/** An event on the platform. Times are in milliseconds since 1970. */
export interface Occurrence {
  entry: LedgerEntry;
  channel: string;
  /** The shard that sent the message. If the platform dropped the message, the channel's own shard. */
  shard: string;
  sentAt: number;
  /** When the platform had certainly sent the message. */
  passedAt: number;
}

/** Makes an event happen on the simulated platform. Returns the message's shard. Rejects if the simulator refuses. */
export type Happen = (type: string, event: Record<string, unknown>) => Promise<string>;

const type = 'channel.update';

// Number of clients. Each waits for its reply, so a busy machine gets fewer events instead of a growing queue.
const clients = 16;

/** Makes events happen at a steady rate, rotating through the channels. */
export class Occurrences {
  readonly all: Occurrence[] = [];
  private readonly running: Promise<unknown>;
  private isStopped = false;

  constructor(
    private readonly channels: readonly string[],
    private readonly perSecond: number,
    private readonly happen: Happen,
  ) {
    this.running = Promise.all(Array.from({ length: clients }, (_, index) => this.runClient(index)));
  }

  /** Stops, and waits until the platform has sent every message. Throws if the simulator has refused a request. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  private async runClient(index: number): Promise<void> {
    const intervalMs = (clients / this.perSecond) * 1_000;
    await wait((index / clients) * intervalMs);
    while (!this.isStopped) {
      const startedAt = performance.now();
      await this.makeNext();
      await wait(Math.max(0, intervalMs - (performance.now() - startedAt)));
    }
  }

  private async makeNext(): Promise<void> {
    const { marker, sequence } = nextMarker();
    const channel = this.channels[sequence % this.channels.length] ?? '';
    const event = { marker, broadcaster_user_id: channel, title: `title ${sequence}` };
    const eventData = JSON.stringify(event);
    const entry = new LedgerEntry({ marker, kind: 'notification', eventType: 'channel-update', eventData });
    const sentAt = Date.now();
    const shard = await this.happen(type, event);
    this.all.push({ entry, channel, shard, sentAt, passedAt: Date.now() });
  }
}
