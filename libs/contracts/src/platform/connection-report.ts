import { isJsonObject } from '../json-object.js';

/** The subject on core NATS on which a connector reports a completed connection. The gateways subscribe to this subject. */
export const connectionReportSubject = 'platform.connections';

/** A connection that a user has just completed on the platform’s page. */
export interface ConnectionReport {
  connectionId: string;
  /** The id of the entry in the audit log, a UUIDv7. Every gateway receives the report and adds the same entry. */
  auditEntryId: string;
}

export function printConnectionReport(report: ConnectionReport): string {
  return JSON.stringify(report);
}

const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Parses the output of `printConnectionReport`. Returns undefined for any other text. */
export function parseConnectionReport(text: string): ConnectionReport | undefined {
  const report = parse(text);
  if (!isJsonObject(report)) return undefined;
  const { connectionId, auditEntryId } = report;
  return isUuid(connectionId) && isUuid(auditEntryId) ? { connectionId, auditEntryId } : undefined;
}

function isUuid(value: unknown): value is string {
  return typeof value === 'string' && uuidPattern.test(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
