import {
  exportEvents,
  ServiceError,
  type ExportEventsReply,
  type ExportEventsRequest,
} from '@stream-events/contracts';
import type { RequestClient } from '@stream-events/messaging';
import { pause } from '@stream-events/service';

const minBackoffMs = 250;
const maxBackoffMs = 2_000;

// After slow pages, an export reads faster to catch up with its rate, but makes up for at most this delay.
const maxLagMs = 1_000;

/** What an export needs to read its pages. */
export interface ExportReading {
  client: RequestClient;
  request: ExportEventsRequest;
  /** HTTP request id, for the logs. */
  requestId: string;
  /** The current maximum events per second. */
  rate: () => number;
  /** Maximum time for retries while the events service is unavailable, in milliseconds. */
  outageMs: number;
  /** Aborts if the export must end early. */
  signal: AbortSignal;
  onPage: (page: ExportEventsReply) => void;
}

/** Reads the first page, without retries. The iterator then reads each page while the client receives the previous one. */
export async function beginExport(reading: ExportReading): Promise<AsyncGenerator<Uint8Array>> {
  return readPages(reading, await readOnce(reading, reading.request.after));
}

/** Yields the pages. Reads at most one page ahead. */
async function* readPages(reading: ExportReading, first: ExportEventsReply): AsyncGenerator<Uint8Array> {
  let dueAt = performance.now();
  for (let page = first; ;) {
    dueAt = Math.max(dueAt, performance.now() - maxLagMs) + (page.count / reading.rate()) * 1_000;
    const next = page.next === null ? undefined : readWhenDue(reading, page.next, dueAt);
    // Prevent an unhandled rejection if the client leaves before the page is awaited.
    next?.catch(() => undefined);
    if (page.bytes.length > 0) yield page.bytes;
    reading.onPage(page);
    if (!next) return;
    page = await next;
  }
}

async function readWhenDue(reading: ExportReading, after: string, dueAt: number): Promise<ExportEventsReply> {
  const waitMs = dueAt - performance.now();
  if (waitMs > 0) await pause(waitMs, reading.signal);
  reading.signal.throwIfAborted();
  return readWithRetries(reading, after);
}

async function readWithRetries(reading: ExportReading, after: string): Promise<ExportEventsReply> {
  const deadline = performance.now() + reading.outageMs;
  for (let backoffMs = minBackoffMs; ; backoffMs = Math.min(2 * backoffMs, maxBackoffMs)) {
    try {
      return await readOnce(reading, after);
    } catch (error) {
      const isAway = error instanceof ServiceError && error.code === 'unavailable';
      if (!isAway || reading.signal.aborted || performance.now() + backoffMs > deadline) throw error;
      await pause(backoffMs, reading.signal);
    }
  }
}

function readOnce(
  { client, request, requestId }: ExportReading,
  after: string | undefined,
): Promise<ExportEventsReply> {
  return client.request(
    exportEvents,
    { ...request, ...(after !== undefined && { after }) },
    { correlationId: requestId },
  );
}
