import { isJsonObject } from '../json-object.js';

/** Core NATS subject on which a connector reports a completed connection to the gateways. */
export const connectionReportSubject = 'platform.connections';

/** A connection that a user has just completed on the platform's page. */
export interface ConnectionReport {
  connectionId: string;
  /** UUIDv7 of the audit log entry. Every gateway gets the report, and all of them add the same entry. */
  auditEntryId: string;
}

export function printConnectionReport(report: ConnectionReport): string {
  return JSON.stringify(report);
}

const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Parses the output of `printConnectionReport`; undefined for any other text. */
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
