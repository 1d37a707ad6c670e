import { Injectable } from '@nestjs/common';
import {
  maxExportPageBytes,
  type ExportEventsReply,
  type ExportEventsRequest,
  type StoredEvent,
} from '@stream-events/contracts';
import { ConcurrencyLimit } from '@stream-events/service';
import { NIL } from 'uuid';
import { EventListRepository } from '../event-list/event-list.repository.js';
import { exportPrinters } from './export-formats.js';

// Events per page. With 1,000, the p99 latency of lists rises from 29 to 70 ms when three processes export, because lists wait behind the
// pages. With 100, an export stays below 20,000 events/s (npm run bench:store).
const pageSize = 200;

// Limits the number of concurrent reads of export pages. Exports read without pause, so more of them would take the database connections
// that lists need.
const readLimit = {
  running: 2,
  waiting: 64,
  refusal: 'Too many exports are running. Retry after the time in `Retry-After`.',
};

/** Reads exports page by page, oldest event first. */
@Injectable()
export class EventExportService {
  private readonly limit = new ConcurrencyLimit(readLimit);

  constructor(private readonly events: EventListRepository) {}

  /** Reads the page after the event `after`, or the first page. */
  async read({ filters, limits, format, after }: ExportEventsRequest): Promise<ExportEventsReply> {
    const position =
      after === undefined
        ? { direction: 'newer' as const, id: NIL, inclusive: true }
        : { direction: 'newer' as const, id: after, inclusive: false };
    const page = await this.limit.run(() => this.events.list({ filters, limits, pageSize, position }));
    const printer = exportPrinters[format];
    const head = after === undefined ? printer.head : '';
    // `list` sorts each page newest first, so the export's next, newer page is the list's `previous` page.
    const lines = printWithinBudget(page.events.reverse(), printer.printEvent);
    const last = lines.length < page.events.length ? page.events[lines.length - 1] : undefined;
    return {
      bytes: Buffer.from(head + lines.join('')),
      count: lines.length,
      next: last?.id ?? page.previous?.id ?? null,
    };
  }
}

/** Prints events until the page is full, but at least one. */
function printWithinBudget(events: readonly StoredEvent[], print: (event: StoredEvent) => string): string[] {
  const lines: string[] = [];
  let bytes = 0;
  for (const event of events) {
    const line = print(event);
    bytes += Buffer.byteLength(line);
    if (bytes > maxExportPageBytes && lines.length > 0) break;
    lines.push(line);
  }
  return lines;
}
