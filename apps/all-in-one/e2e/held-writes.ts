import { eventually } from '@stream-events/testing';
import pg from 'pg';

type Connection = InstanceType<typeof pg.Client>;

const countWaiting = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'events' AND wait_event_type = 'Lock'`;

/** Blocks every write of the events service until `release`. The test can then rely on a write in flight. */
export class HeldWrites {
  private constructor(
    private readonly holder: Connection,
    /** Within a transaction, PostgreSQL does not refresh the list of waiting connections. Read the list on a second connection. */
    private readonly observer: Connection,
  ) {}

  static async begin(databaseUrl: string, observer: Connection): Promise<HeldWrites> {
    const holder = new pg.Client(databaseUrl);
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE events.received_messages IN EXCLUSIVE MODE');
    return new HeldWrites(holder, observer);
  }

  /** Waits until at least this many batches are being written. The gateway resends a batch that times out. */
  untilWaiting(batches: number): Promise<void> {
    return eventually(
      async () => {
        const [row] = (await this.observer.query<{ count: number }>(countWaiting)).rows;
        if (!row || row.count < batches) throw new Error(`${row?.count} batches wait, not ${batches}`);
      },
      { timeoutMs: 60_000, intervalMs: 10 },
    );
  }

  /** Ends the lock's connection, so that the writes continue. Its transaction changed nothing. */
  release(): Promise<void> {
    return this.holder.end();
  }
}
