import {
  printCreated,
  printEventRecord,
  type ExportFormat,
  type StoredEvent,
} from '@stream-events/contracts';

/** How a format prints an export: the lines before the first event, and the line of an event, both with line ends. */
export interface ExportPrinter {
  head: string;
  printEvent: (event: StoredEvent) => string;
}

/** The formats of an export. */
export const exportPrinters: Readonly<Record<ExportFormat, ExportPrinter>> = {
  // JSON text has line breaks only between its tokens.
  ndjson: { head: '', printEvent: (event) => `${printEventRecord(event).replace(/[\r\n]/g, ' ')}\n` },
  csv: {
    head: 'id,event_id,event_type,event_source,created,origin,event_data\r\n',
    printEvent: (event) => `${toCells(event).map(printCell).join(',')}\r\n`,
  },
};

/** In the order of the columns. Null is an empty cell. */
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

// A spreadsheet runs a cell that begins with one of these characters as a formula, and strangers choose names and texts. The last
// four are their full-width forms, which some spreadsheets accept.
const formulaStart = /^[=+\-@\t\r\n＝＋－＠]/;

/** Prints a cell as RFC 4180 says. Puts an apostrophe before text that a spreadsheet would run. */
function printCell(text: string): string {
  const safe = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
