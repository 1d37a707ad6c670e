import {
  printExportedCreated,
  printExportedEventRecord,
  type ExportFormat,
  type StoredEvent,
} from '@stream-events/contracts';

/** Prints an export in one format: `head` once, then one record per event. `head` and the records include their line endings. */
export interface ExportPrinter {
  head: string;
  printEvent: (event: StoredEvent) => string;
}

export const exportPrinters: Readonly<Record<ExportFormat, ExportPrinter>> = {
  // In JSON, line breaks occur only between tokens, so spaces can replace them.
  ndjson: { head: '', printEvent: (event) => `${printExportedEventRecord(event).replace(/[\r\n]/g, ' ')}\n` },
  csv: {
    head: 'id,event_id,event_type,event_source,created,origin,event_data\r\n',
    printEvent: (event) => `${toCells(event).map(printCell).join(',')}\r\n`,
  },
};

/** Null becomes an empty cell. */
function toCells(event: StoredEvent): string[] {
  const { id, eventId, eventType, eventSource, origin, eventData } = event;
  return [
    origin === 'test' ? '' : id,
    eventId ?? '',
    eventType,
    eventSource,
    printExportedCreated(event),
    origin,
    eventData,
  ];
}

// Spreadsheets run a cell that begins with one of these characters as a formula. Users of the platform choose such names and texts freely.
// The last four are full-width forms, which some spreadsheets accept too.
const formulaStart = /^[=+\-@\t\r\n＝＋－＠]/;

/** Prints a cell according to RFC 4180. Prefixes an apostrophe to text that a spreadsheet would run as a formula. */
function printCell(text: string): string {
  const safe = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
