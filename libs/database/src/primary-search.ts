import { splitHosts } from '@stream-events/service';
import pg from 'pg';
import { resolveHostOf } from './resolve-host.js';

/** A server that accepts writes. */
export interface Primary {
  host: string;
  port: number;
}

/** The part of pg's connection that reports session settings, which pg's types do not show. */
interface ReportingConnection {
  on(
    event: 'parameterStatus',
    listener: (setting: { parameterName: string; parameterValue: string }) => void,
  ): void;
}

// How long a host may take to accept the connection; resolving the host's name may take half as long in addition. A connection attempt
// includes the search, so this must be shorter than the attempt's limit of 3 s.
const searchLimitMs = 2_000;

// The server reports these settings when a session starts and when they change. If one is `on`, the session is read-only.
const readOnlySettings = ['in_hot_standby', 'default_transaction_read_only'];

/** No host accepts writes at present. */
export class NoPrimaryError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`no connection to a primary: ${reason}`, options);
  }
}

/** Finds the primary among the hosts of a `DATABASE_URL`, and remembers it until `forget` is called. */
export class PrimarySearch {
  private readonly urls: readonly string[];
  private found: Promise<Primary> | undefined;

  constructor(url: string) {
    this.urls = splitHosts(url);
  }

  get firstUrl(): string {
    return this.urls[0] ?? '';
  }

  /**
   * Returns the known primary, or asks all hosts at once which one accepts writes. Returns undefined when the URL has a single host.
   *
   * @throws when no host replies as a primary in time
   */
  async find(): Promise<Primary | undefined> {
    if (this.urls.length === 1) return undefined;
    this.found ??= this.search();
    const searching = this.found;
    return searching.catch((error: unknown) => {
      this.forget(searching);
      throw error;
    });
  }

  /** Call this when the primary did not reply or is no longer primary, so that the next connection searches again. */
  forget(found = this.found): void {
    if (found === this.found) this.found = undefined;
  }

  private async search(): Promise<Primary> {
    try {
      return await Promise.any(this.urls.map(askHost));
    } catch (error) {
      const reasons = error instanceof AggregateError ? (error.errors as unknown[]) : [error]; // Safe cast: Promise.any collects the reasons.
      // Retries cannot fix a wrong password or database name.
      if (reasons.every((reason) => isRefusal(reason))) throw reasons[0];
      const texts = reasons.map((reason) => (reason instanceof Error ? reason.message : String(reason)));
      throw new NoPrimaryError(texts.join('; '), { cause: error });
    }
  }
}

/** Tracks a session's settings, and returns a function that tells whether the session is read-only. */
export function watchReadOnly(client: pg.Client): () => boolean {
  const settings = new Map<string, string>();
  const { connection } = client as unknown as { connection: ReportingConnection }; // Safe cast: pg's client has a connection.
  connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
    if (readOnlySettings.includes(parameterName)) settings.set(parameterName, parameterValue);
  });
  return () => [...settings.values()].includes('on');
}

async function askHost(url: string): Promise<Primary> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'primary-search',
    connectionTimeoutMillis: searchLimitMs,
  });
  client.on('error', () => undefined); // once the host has replied, a failure does not matter
  const isReadOnly = watchReadOnly(client);
  const { host, port } = client;
  try {
    await resolveHostOf(client, { limitMs: searchLimitMs / 2 });
    await client.connect();
    if (isReadOnly()) throw new Error('it is a standby or read-only');
    return { host, port };
  } catch (error) {
    if (isRefusal(error)) throw error;
    throw new Error(`${host}:${port}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  } finally {
    // Ignore the error: the host has replied or failed already.
    void client.end().catch(() => undefined);
  }
}

/** Whether the server refuses the role (SQLSTATE class 28) or does not know the database (3D). */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(28|3D)/.test(error.code ?? '');
}
