import { exportFormats, ServiceError, type EventFilters, type ExportFormat } from '@stream-events/contracts';
import { validate as isUuid, version as versionOf } from 'uuid';
import { parseEventFilters } from '../events/event-list.query.js';
import { ParameterFaults, type Parameters } from '../paging/page-parameters.js';

/** A parsed query of an export. */
export interface EventExportQuery {
  filters: EventFilters;
  format: ExportFormat;
  /** The last event that the client has: its `id` or its `event_id`. */
  after: string | undefined;
}

/**
 * Parses the query of an export. Treats an empty value as absent and ignores unknown parameters.
 *
 * @throws ServiceError `invalid` with all errors, by parameter
 */
export function parseEventExportQuery(parameters: Parameters): EventExportQuery {
  const faults = new ParameterFaults();
  const filters = parseEventFilters(parameters, faults);
  const format = faults.attempt(() => parseFormat(parameters.format)) ?? 'ndjson';
  faults.throwIfAny();
  return { filters, format, after: parameters.after || undefined };
}

/** Whether a text is the `id` of an event, which is a UUIDv7. An `event_id` is a UUID of another version, or any other text. */
export function isEventId(text: string): boolean {
  return isUuid(text) && versionOf(text) === 7;
}

function parseFormat(value: string | undefined): ExportFormat {
  const format = exportFormats.find((name) => name === (value || 'ndjson'));
  if (!format) throw ServiceError.onField('format', `must be ${exportFormats.join(' or ')}`);
  return format;
}
