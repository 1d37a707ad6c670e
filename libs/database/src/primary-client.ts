import pg from 'pg';
import { NoPrimaryError, PrimarySearch, watchReadOnly } from './primary-search.js';
import { resolveHostOf } from './resolve-host.js';

type ConnectCallback = (error?: Error) => void;

/** Makes pg's pools and clients connect to the primary. */
export interface PrimaryOptions {
  /** Pools and TypeORM pass all these options to the constructor, although pg's types do not say so. */
  Client: new (...options: never[]) => pg.ClientBase;
  /** One search for all connections of a pool. */
  primarySearch: PrimarySearch;
}

/** The parts of pg's client that its types omit. */
interface InnerClient {
  host: string;
  port: number;
  connection: {
    on(event: 'errorMessage', listener: (error: { code?: string }) => void): void;
    stream: { destroy(): void };
  };
}

// The SQLSTATE of a write on a standby, or on a server that has become read-only.
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
 * When a statement fails with SQLSTATE 25006 (read-only), the connection ends, so that the pool opens another one. The caller retries, as
 * after any lost connection.
 */
export class PrimaryClient extends pg.Client {
  private readonly search: PrimarySearch;
  private readonly isReadOnly: () => boolean;

  constructor(options: pg.ClientConfig & Pick<PrimaryOptions, 'primarySearch'>) {
    super(options);
    this.search = options.primarySearch;
    this.isReadOnly = watchReadOnly(this);
    // Without a listener, an error between two queries would end the process; the next query fails anyway, so the listener may ignore it.
    this.on('error', () => undefined);
    this.inner.connection.on('errorMessage', ({ code }) => {
      // Close only after the failed statement has received its error.
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
      // Safe cast: pg and Node reject with errors. `instanceof Error` does not work here: under Jest, Node's errors come from another
      // realm.
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
      // A host that replied is still the primary, even if it refused the role or has too many connections.
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

/** Options for pg's pools and clients. The `DATABASE_URL` may have one or several hosts. */
export function toPrimary(url: string): PrimaryOptions & { connectionString: string } {
  const primarySearch = new PrimarySearch(url);
  return { connectionString: primarySearch.firstUrl, Client: PrimaryClient, primarySearch };
}
