import { isJsonObject } from '../json-object.js';
import type { SystemMeasure } from './system-measures.js';

/**
 * The subject on core NATS on which every instance of every service publishes its report every 5 s. The gateways subscribe to this subject.
 */
export const instanceReportSubject = 'system.instances';

/** The services whose instances report themselves. */
export const reportingServices = ['gateway', 'events', 'streamer-monitor', 'platform-connector'] as const;
export type ReportingService = (typeof reportingServices)[number];

/** How often an instance reports itself, in milliseconds. */
export const instanceReportMs = 5_000;

/** The report of an instance about itself. All times are milliseconds since 1970, by the clock of the instance. */
export interface InstanceReport {
  /** A random id of the instance. A process that runs several services has several instances. */
  id: string;
  service: ReportingService;
  version: string;
  /** The name of the machine or container. */
  host: string;
  processId: number;
  startedAt: number;
  uptimeSeconds: number;
  /** The names of the failed readiness checks. Empty when the process is ready. */
  problems: readonly string[];
  measures: Readonly<Partial<Record<SystemMeasure, number>>>;
  /** Only in reports of gateways. */
  live?: LiveReport;
  /** Set when the instance is shutting down. */
  isLeaving?: true;
}

/** The live connections of a gateway. */
export interface LiveReport {
  /** The number of all open connections. */
  count: number;
  /** The open connections that are furthest behind, at most `maxReportedConnections`. */
  open: readonly OpenConnection[];
  /** The most recently closed connections, newest first, at most `maxReportedClosings`. */
  closed: readonly ClosedConnection[];
}

/**
 * The limits of a report. The filters get the bytes that the other fields of the connections leave: usually 0.8 MiB, and less when names
 * are long. A NATS message holds at most 1 MiB.
 */
export const maxReportedConnections = 200;
export const maxReportedClosings = 100;
export const maxReportedBytes = 900 * 1024;

/** A live connection. */
export interface LiveConnectionReport {
  /** A random id. */
  id: string;
  /** The name that the client has given the connection; null when it has none. */
  name: string | null;
  /** The name of the client's token; null for a main token. */
  tokenName: string | null;
  username: string;
  address: string;
  transport: 'websocket' | 'server-sent-events';
  openedAt: number;
}

export interface OpenConnection extends LiveConnectionReport {
  /** `locating`: the gateway looks for the position after which the client resumes. `catching_up`: it sends older events. */
  state: 'locating' | 'catching_up' | 'live';
  /** How many events the connection is behind the stream; null while the state is `locating`. */
  lagEvents: number | null;
  /** The number of bytes that the client has not read yet. */
  unreadBytes: number;
  /** Whether the client has asked for controls. Gateways of version 0.1.0 omit this field. */
  takesControls?: boolean;
  /**
   * The client's filters and the limits of its token, in the format that the gateways use. Missing when the filters of other connections
   * fill the report, and in reports from version 0.1.0.
   */
  filter?: object;
}

export interface ClosedConnection extends LiveConnectionReport {
  closedAt: number;
  /** The close code; null when the client ended a stream of server-sent events, which has no code. */
  code: number | null;
  /** Why the connection was closed; `left` means that the client closed it. */
  reason: string;
}

/** Prints a report as JSON. */
export function printInstanceReport(report: InstanceReport): string {
  return JSON.stringify(report);
}

/** Parses the output of `printInstanceReport`. Returns undefined for any other text. */
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
