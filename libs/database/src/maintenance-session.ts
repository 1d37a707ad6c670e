import { within } from '@stream-events/service';
import type { Client, QueryResultRow } from 'pg';
import { advisoryLocks, type AdvisoryLock } from './advisory-locks.js';
import { connectClient, type SessionOptions } from './connect-database.js';
import { migrationTimeoutMs } from './run-migrations.js';

// How long to wait until a session has ended. A service has 25 s to stop, and a server that does not respond must not use up this time.
const endLimitMs = 2_000;

/** Opens sessions for maintenance statements that can take hours, such as building an index. */
export class MaintenanceSessions {
  constructor(private readonly options: Omit<SessionOptions, 'statementTimeoutMs'>) {}

  /**
   * Opens a session and takes an advisory lock, which the session holds until it is closed. Returns undefined when another session holds
   * the lock; the caller tries again later. Never waits for the lock: `CREATE INDEX CONCURRENTLY` waits for all running statements and
   * would deadlock with one that waits for the lock.
   *
   * @param stopping when it aborts, the session ends, even in the middle of a statement
   */
  async open(lock: AdvisoryLock, stopping: AbortSignal): Promise<MaintenanceSession | undefined> {
    const client = await connectClient({ ...this.options, statementTimeoutMs: migrationTimeoutMs });
    try {
      const { rows } = await client.query<{ isTaken: boolean; pid: number }>(
        'SELECT pg_try_advisory_lock($1) AS "isTaken", pg_backend_pid() AS pid',
        [advisoryLocks[lock]],
      );
      const [row] = rows;
      if (row?.isTaken) return new MaintenanceSession(client, stopping, () => this.terminate(row.pid));
    } catch (error) {
      await end(client);
      throw error;
    }
    await end(client);
    return undefined;
  }

  /** Ends a session on the server, which otherwise notices a closed connection only after the running statement. */
  private async terminate(pid: number): Promise<void> {
    const client = await connectClient({ ...this.options, statementTimeoutMs: endLimitMs });
    try {
      await client.query('SELECT pg_terminate_backend($1)', [pid]);
    } finally {
      await end(client);
    }
  }
}

/** A session for long statements, one at a time. */
export class MaintenanceSession {
  private terminated: Promise<void> | undefined;
  private readonly onStop = (): void => {
    this.terminated = within(endLimitMs, this.terminate()).then(() => end(this.client));
  };

  constructor(
    private readonly client: Client,
    private readonly stopping: AbortSignal,
    private readonly terminate: () => Promise<void>,
  ) {
    stopping.addEventListener('abort', this.onStop);
    if (stopping.aborted) this.onStop();
  }

  /** Runs a statement outside a transaction. */
  async query<Row extends QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]> {
    return (await this.client.query<Row>(sql, values)).rows;
  }

  /** Ends the session, which releases its lock. */
  async close(): Promise<void> {
    this.stopping.removeEventListener('abort', this.onStop);
    await (this.terminated ?? end(this.client));
  }
}

/** Closes the connection, so a running statement fails. */
async function end(client: Client): Promise<void> {
  await within(endLimitMs, client.end());
}
