import {
  printCreated,
  printEventRecord,
  type ExportFormat,
  type StoredEvent,
} from '@stream-events/contracts';

/** How a format prints an export: the lines before the first event, and the line of each event, both with line endings. */
export interface ExportPrinter {
  head: string;
  printEvent: (event: StoredEvent) => string;
}

/** The formats of an export. */
export const exportPrinters: Readonly<Record<ExportFormat, ExportPrinter>> = {
  // JSON has line breaks only between tokens, so a space can replace each of them.
  ndjson: { head: '', printEvent: (event) => `${printEventRecord(event).replace(/[\r\n]/g, ' ')}\n` },
  csv: {
    head: 'id,event_id,event_type,event_source,created,origin,event_data\r\n',
    printEvent: (event) => `${toCells(event).map(printCell).join(',')}\r\n`,
  },
};

/** Returns the cells in the order of the columns. Null becomes an empty cell. */
function toCells(event: StoredEvent): string[] {
  const { id, eventId, eventType, eventSource, origin, eventData } = event;
  return [
    origin === 'test' ? '' : id,
    eventId ?? '',
    eventType,
    eventSource,
    printCreated(event),
    origin,
    eventData,
  ];
}

// A spreadsheet runs a cell that begins with one of these characters as a formula, and the platform's users choose names and texts. The
// last four characters are full-width forms, which some spreadsheets accept as well.
const formulaStart = /^[=+\-@\t\r\n＝＋－＠]/;

/** Prints a cell according to RFC 4180. Puts an apostrophe before text that a spreadsheet would run as a formula. */
function printCell(text: string): string {
  const safe = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
