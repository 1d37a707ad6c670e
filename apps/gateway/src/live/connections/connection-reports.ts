import { randomUUID } from 'node:crypto';
import {
  maxReportedBytes,
  maxReportedClosings,
  maxReportedConnections,
  type ClosedConnection,
  type LiveConnectionReport,
  type LiveReport,
  type OpenConnection,
} from '@stream-events/contracts';
import type { Caller } from '../../access/caller.js';
import type { Closing, LiveConnection } from './live-connection.js';

/** The part of a connection that reports read. */
export type ReportedConnection = Pick<LiveConnection, 'format' | 'progress' | 'request'>;

/** The user and address behind a connection. */
export interface ReportedClient {
  caller: Caller;
  address: string;
}

/** Reports the live connections of this process, both open and most recently closed. */
export class ConnectionReports {
  private readonly open = new Map<ReportedConnection, LiveConnectionReport>();
  private readonly closed: ClosedConnection[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  add(connection: ReportedConnection, { address, caller }: ReportedClient): void {
    this.open.set(connection, {
      id: randomUUID(),
      name: connection.request.name ?? null,
      tokenName: caller.token.name,
      username: caller.username,
      address,
      transport: connection.format === 'server_sent' ? 'server-sent-events' : 'websocket',
      openedAt: this.now(),
    });
  }

  close(connection: ReportedConnection, { reason, code }: Closing): void {
    const report = this.open.get(connection);
    if (!report || !this.open.delete(connection)) return;
    this.closed.unshift({ ...report, closedAt: this.now(), code, reason });
    this.closed.length = Math.min(this.closed.length, maxReportedClosings);
  }

  /** If more than `maxReportedConnections` are open, lists only the connections that are furthest behind. */
  read(): LiveReport {
    const open = [...this.open].map(([connection, report]) => ({
      ...report,
      ...connection.progress,
      takesControls: connection.request.controls === true,
      filter: connection.request.filter,
    }));
    if (open.length > maxReportedConnections) open.sort((one, other) => lagOf(other) - lagOf(one));
    const reported = withoutLargeFilters(open.slice(0, maxReportedConnections), this.closed);
    return { count: open.length, open: reported, closed: this.closed };
  }
}

/** Omits filters that would exceed the size of a report. Clients choose how long their filters and names are. */
function withoutLargeFilters(
  open: readonly Required<OpenConnection>[],
  closed: readonly ClosedConnection[],
): OpenConnection[] {
  const bare = open.map(({ filter: _, ...connection }): OpenConnection => connection);
  let room = maxReportedBytes - bytesOf([bare, closed]);
  return bare.map((connection, index) => {
    const filter = open[index]?.filter ?? {};
    const bytes = bytesOf({ filter });
    if (bytes > room) return connection;
    room -= bytes;
    return { ...connection, filter };
  });
}

function bytesOf(part: object): number {
  return Buffer.byteLength(JSON.stringify(part));
}

/**
 * Returns how far a connection is behind, as a sort key. A connection whose position is still being looked up counts as furthest behind.
 */
function lagOf({ lagEvents, unreadBytes }: OpenConnection): number {
  // Unread bytes decide between connections that are equally far behind.
  return (lagEvents ?? Number.MAX_SAFE_INTEGER) + unreadBytes / 2 ** 32;
}
