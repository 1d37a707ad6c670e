import { setTimeout as wait } from 'node:timers/promises';
import { LedgerEntry } from '../chaos/ledger.js';
import { nextMarker } from '../chaos/fault-load.js';

/** Something that happened on the platform. Times are milliseconds since 1970. */
export interface Occurrence {
  entry: LedgerEntry;
  channel: string;
  /** The shard that carried the message, or that of the channel if the platform dropped it. */
  shard: string;
  sentAt: number;
  /** When the platform had passed it on. */
  passedAt: number;
}

/** Makes something happen in a channel. Returns the shard. Rejects when the platform does not do so. */
export type Happen = (type: string, event: Record<string, unknown>) => Promise<string>;

const type = 'channel.update';

// Each client waits for its reply, so a machine that is too busy gets fewer events instead of a queue.
const clients = 16;

/** Makes things happen at a steady rate, in all channels in turn. */
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

  /** Waits until the platform has passed on everything. Throws when something could not happen. */
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
