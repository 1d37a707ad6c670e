import { eventually } from '@stream-events/testing';
import pg from 'pg';

type Connection = InstanceType<typeof pg.Client>;

const countWaiting = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'events' AND wait_event_type = 'Lock'`;

/**
 * Everything that the events service writes is held up, without a time limit of our own: what is in flight meanwhile is
 * in flight for certain.
 */
export class HeldWrites {
  private constructor(
    private readonly holder: Connection,
    /** Another one: within a transaction the list of who waits stays as it was. */
    private readonly observer: Connection,
  ) {}

  static async begin(databaseUrl: string, observer: Connection): Promise<HeldWrites> {
    const holder = new pg.Client(databaseUrl);
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE events.received_messages IN EXCLUSIVE MODE');
    return new HeldWrites(holder, observer);
  }

  /** Waits until at least this many batches are being written: one that takes too long is sent once more. */
  untilWaiting(batches: number): Promise<void> {
    return eventually(
      async () => {
        const [row] = (await this.observer.query<{ count: number }>(countWaiting)).rows;
        if (!row || row.count < batches) throw new Error(`${row?.count} batches wait, not ${batches}`);
      },
      { intervalMs: 10 },
    );
  }

  /** Lets them go on; nothing has been changed. */
  release(): Promise<void> {
    return this.holder.end();
  }
}
