import { isJsonObject } from '../json-object.js';
import type { ReportedMeasure } from './system-measures.js';

/** Core NATS subject on which every instance of every service publishes its report for the gateways. */
export const instanceReportSubject = 'system.instances';

/** Services whose instances report themselves. */
export const reportingServices = ['gateway', 'events', 'streamer-monitor', 'platform-connector'] as const;
export type ReportingService = (typeof reportingServices)[number];

/** An instance reports itself at this interval. */
export const instanceReportMs = 5_000;

/** An instance's report about itself. Times are milliseconds since 1970 by the instance's clock. */
export interface InstanceReport {
  /** Random id. A process that runs several services has several instances. */
  id: string;
  service: ReportingService;
  version: string;
  /** Name of the machine or container. */
  host: string;
  processId: number;
  startedAt: number;
  uptimeSeconds: number;
  /** The failed readiness checks, each as its name and its error; empty if the process is ready. */
  problems: readonly string[];
  measures: Readonly<Partial<Record<ReportedMeasure, number>>>;
  /** Only in reports of gateways. */
  live?: LiveReport;
  /** Set while the instance shuts down. */
  isLeaving?: true;
}

/** A gateway's live connections. */
export interface LiveReport {
  /** Number of open connections. */
  count: number;
  /** Open connections that are furthest behind, at most `maxReportedConnections`. */
  open: readonly OpenConnection[];
  /** Latest closed connections, newest first, at most `maxReportedClosings`. */
  closed: readonly ClosedConnection[];
}

/**
 * Limits of a report, which must fit into a NATS message (1 MiB). Filters get the bytes that the connections' other fields leave: usually
 * 0.8 MiB, and less if names are long.
 */
export const maxReportedConnections = 200;
export const maxReportedClosings = 100;
export const maxReportedBytes = 900 * 1024;

/** A live connection. */
export interface LiveConnectionReport {
  /** Random id. */
  id: string;
  /** Name that the client gave the connection, or null. */
  name: string | null;
  /** Name of the client's token; null for a main token. */
  tokenName: string | null;
  username: string;
  address: string;
  transport: 'websocket' | 'server-sent-events';
  openedAt: number;
}

export interface OpenConnection extends LiveConnectionReport {
  /** `locating`: the gateway looks for the position at which the client resumes. `catching_up`: the gateway sends older events. */
  state: 'locating' | 'catching_up' | 'live';
  /** Number of events by which the client is behind the stream; null while `locating`. */
  lagEvents: number | null;
  /** Bytes that the client has not read yet. */
  unreadBytes: number;
  /** Whether the client asked for controls. */
  takesControls: boolean;
  /** The client's filters and its token's limits, in the gateways' format. Missing if other connections' filters fill the report. */
  filter?: object;
}

export interface ClosedConnection extends LiveConnectionReport {
  closedAt: number;
  /** Close code; null if the client ended a stream of server-sent events, which has no code. */
  code: number | null;
  /** Why the connection was closed. `left`: the client closed it. */
  reason: string;
}

/** Prints a report as JSON. */
export function printInstanceReport(report: InstanceReport): string {
  return JSON.stringify(report);
}

/** Parses the output of `printInstanceReport`; undefined for any other text. */
export function parseInstanceReport(text: string): InstanceReport | undefined {
  const report = parse(text);
  if (!isJsonObject(report) || !isJsonObject(report.measures) || !Array.isArray(report.problems))
    return undefined;
  const { id, service, version, host, processId, startedAt, uptimeSeconds, live } = report;
  const texts = [id, service, version, host];
  if (!texts.every((value) => typeof value === 'string') || !isKnown(service)) return undefined;
  if (![processId, startedAt, uptimeSeconds].every(Number.isInteger)) return undefined;
  if (live !== undefined && !isLiveReport(live)) return undefined;
  // Safe cast: only instances can publish on this subject, and the checks above cover everything that could crash a gateway.
  return report as unknown as InstanceReport;
}

function isKnown(service: unknown): service is ReportingService {
  return reportingServices.some((known) => known === service);
}

function isLiveReport(live: unknown): boolean {
  if (!isJsonObject(live)) return false;
  const { count, open, closed } = live;
  return (
    Number.isInteger(count) && [open, closed].every((list) => Array.isArray(list) && list.every(isJsonObject))
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
