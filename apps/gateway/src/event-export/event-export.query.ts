import { exportFormats, ServiceError, type EventFilters, type ExportFormat } from '@stream-events/contracts';
import { validate as isUuid, version as versionOf } from 'uuid';
import { parseEventFilters } from '../events/event-list.query.js';
import { ParameterFaults, type Parameters } from '../paging/page-parameters.js';

export interface EventExportQuery {
  filters: EventFilters;
  format: ExportFormat;
  /** `id` or `event_id` of the last event that the client has. */
  after: string | undefined;
  /** Whether the file starts with a byte order mark. */
  hasBom: boolean;
}

/**
 * Parses the query of an export. Ignores empty values and unknown parameters.
 *
 * @throws ServiceError `invalid` with all errors, by parameter
 */
export function parseEventExportQuery(parameters: Parameters): EventExportQuery {
  const faults = new ParameterFaults();
  const filters = parseEventFilters(parameters, faults);
  const format = faults.attempt(() => parseFormat(parameters.format)) ?? 'ndjson';
  const bom = faults.attempt(() => parseFlag('bom', parameters.bom)) ?? false;
  faults.throwIfAny();
  return { filters, format, after: parameters.after || undefined, hasBom: bom && format === 'csv' };
}

/** Whether a text is the `id` of an event. An `id` is a UUIDv7; an `event_id` is any other text. */
export function isEventId(text: string): boolean {
  return isUuid(text) && versionOf(text) === 7;
}

function parseFlag(name: string, value: string | undefined): boolean {
  if (value && value !== 'true' && value !== 'false')
    throw ServiceError.onField(name, 'must be true or false');
  return value === 'true';
}

function parseFormat(value: string | undefined): ExportFormat {
  const format = exportFormats.find((name) => name === (value || 'ndjson'));
  if (!format) throw ServiceError.onField('format', `must be ${exportFormats.join(' or ')}`);
  return format;
}
