import pg from 'pg';
import { NoPrimaryError, PrimarySearch, watchReadOnly } from './primary-search.js';
import { resolveHostOf } from './resolve-host.js';

type ConnectCallback = (error?: Error) => void;

/** The options of pg's pools and clients that make them connect to the primary. */
export interface PrimaryOptions {
  /** Pools and TypeORM pass all options of this interface to the constructor. pg's types do not say so. */
  Client: new (...options: never[]) => pg.ClientBase;
  /** Shared by all connections of a pool. */
  primarySearch: PrimarySearch;
}

/** The parts of pg's client that its types do not show. */
interface InnerClient {
  host: string;
  port: number;
  connection: {
    on(event: 'errorMessage', listener: (error: { code?: string }) => void): void;
    stream: { destroy(): void };
  };
}

// SQLSTATE of a write on a server that has become read-only or is a standby.
const readOnlyTransaction = '25006';

/**
 * A connection to the primary, like `target_session_attrs=read-write` in libpq. pg supports neither this option nor several hosts.
 *
 * ```
 * one host ───────────────────────────────────────────┐
 * several hosts ──▶ ask all of them, or remember ──▶ connect ──▶ primary: use the connection
 *                        ▲                            │   │
 *                        └──── no reply ──────────────┘   └────▶ standby: fail
 * ```
 *
 * The connection ends when a statement fails with SQLSTATE 25006 (read-only), so that the pool opens another connection. The caller
 * retries, as after any lost connection.
 */
export class PrimaryClient extends pg.Client {
  private readonly search: PrimarySearch;
  private readonly isReadOnly: () => boolean;

  constructor(options: pg.ClientConfig & Pick<PrimaryOptions, 'primarySearch'>) {
    super(options);
    this.search = options.primarySearch;
    this.isReadOnly = watchReadOnly(this);
    // Without a listener, an error between two queries would end the process. The listener can ignore the error, because the next query
    // fails in any case.
    this.on('error', () => undefined);
    this.inner.connection.on('errorMessage', ({ code }) => {
      // Wait until the failed statement has received its error.
      if (code === readOnlyTransaction) setImmediate(() => this.leave());
    });
  }

  override connect(): Promise<this>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<this> | void {
    const connected = this.connectToPrimary();
    if (!callback) return connected;
    connected.then(
      () => callback(),
      // Safe cast: pg and Node reject with errors. No `instanceof Error`: under Jest, Node's errors belong to another realm.
      (error: unknown) => callback(error as Error),
    );
  }

  private async connectToPrimary(): Promise<this> {
    const primary = await this.search.find();
    if (primary) Object.assign(this.inner, primary);
    await resolveHostOf(this);
    try {
      await super.connect();
    } catch (error) {
      // The host refused the role, or has too many connections. A host that replies is still the primary.
      const hasReplied = error instanceof pg.DatabaseError && /^(28|53)/.test(error.code ?? '');
      if (!hasReplied) this.search.forget();
      throw error;
    }
    if (!this.isReadOnly()) return this;
    this.leave();
    throw new NoPrimaryError(`${this.host}:${this.port} is a standby or read-only`);
  }

  private leave(): void {
    this.search.forget();
    this.inner.connection.stream.destroy();
  }

  private get inner(): InnerClient {
    return this;
  }
}

/** Options for pg's pools and clients, for a `DATABASE_URL` with one or several hosts. */
export function toPrimary(url: string): PrimaryOptions & { connectionString: string } {
  const primarySearch = new PrimarySearch(url);
  return { connectionString: primarySearch.firstUrl, Client: PrimaryClient, primarySearch };
}
