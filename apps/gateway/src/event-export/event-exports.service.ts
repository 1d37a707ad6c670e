import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { ServiceError, type ExportEventsRequest } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { FailureLog, LOGGER, Registry, type Counter, type Logger } from '@stream-events/service';
import type { Caller } from '../access/caller.js';
import { ConcurrencyLimit } from '../access/concurrency-limit.js';
import { endedTokenError, TokenLookup } from '../access/token-lookup.service.js';
import { exportLimits, type ExportLimits } from './export-limits.js';
import { beginExport } from './export-pages.js';
import { ReaderPace } from './reader-pace.js';
import { gatewayMetrics } from '../metrics.js';

// Buffer size of an export. The next page is read when fewer bytes wait for the client.
const bufferBytes = 64 * 1024;

// Node counts a write as pending until the operating system has accepted all of it. Small pieces show how fast the client reads.
const pieceBytes = 64 * 1024;
// How often to measure the client's pace, per `slowMs`.
const samplesPerSpan = 30;

// How often an export checks its token. A check takes milliseconds, so an export ends within a second after its token is revoked, changed,
// or expired, or its user is disabled.
const tokenCheckMs = 800;

export interface ExportClient {
  caller: Caller;
  /** HTTP request id, for the logs. */
  requestId: string;
  /** Starts the response. The export calls `begin` after it has read the first page, so that earlier errors get an error response. */
  begin(): ServerResponse;
}

/** Runs the exports of this process. Each export reads at the client's pace, at most one page ahead. */
@Injectable()
export class EventExports {
  private readonly running = new Set<AbortController>();
  private readonly turns: ConcurrencyLimit;
  private readonly exportedTotal: Counter;
  private readonly failures: FailureLog;
  private isStopped = false;

  constructor(
    private readonly client: RequestClient,
    private readonly tokens: TokenLookup,
    @Inject(LOGGER) logger: Logger,
    metrics: Registry,
    @Optional() private readonly limits: ExportLimits = exportLimits,
  ) {
    this.turns = new ConcurrencyLimit(limits.perUser);
    this.failures = new FailureLog(logger);
    this.exportedTotal = gatewayMetrics.gateway_exported_events_total.create(metrics);
    gatewayMetrics.gateway_exports.create(metrics, (gauge) => gauge.set(this.running.size));
  }

  /**
   * Sends an export and resolves when the response has ended. The response ends early and incomplete if the client leaves or reads less
   * than 16 KiB/s for 30 s, the token ends or its rights change, the gateway stops, or the events service is unavailable for too long.
   *
   * @throws ServiceError `too_many_requests`, `unavailable`, or `unauthenticated`, before the response begins
   */
  async send(request: ExportEventsRequest, client: ExportClient): Promise<void> {
    const endTurn = this.beginTurn(client.caller);
    const ending = new AbortController();
    this.running.add(ending);
    const tokenWatch = setInterval(() => void this.endIfRevoked(client.caller, ending), tokenCheckMs);
    try {
      const pages = await beginExport({
        client: this.client,
        request,
        requestId: client.requestId,
        // Divide the user's rate among the user's exports.
        rate: () => this.limits.eventsPerSecond / Math.max(1, this.turns.runningOf(client.caller.id)),
        outageMs: this.limits.outageMs,
        signal: ending.signal,
        onPage: ({ count }) => this.exportedTotal.inc(count),
      });
      ending.signal.throwIfAborted();
      await this.stream(pages, client, ending);
    } finally {
      clearInterval(tokenWatch);
      ending.abort();
      this.running.delete(ending);
      endTurn();
    }
  }

  /** Ends all exports and rejects new ones. */
  stop(): void {
    this.isStopped = true;
    for (const ending of this.running) ending.abort(stopping());
  }

  private async stream(
    pages: AsyncGenerator<Uint8Array>,
    client: ExportClient,
    ending: AbortController,
  ): Promise<void> {
    const response = client.begin();
    if (response.destroyed) return;
    // Also ends the retries, if the client leaves while the events service is unavailable.
    response.once('close', () => ending.abort());
    const pace = this.watchPace(response, ending);
    const source = Readable.from(inPieces(pages), { objectMode: false, highWaterMark: bufferBytes });
    try {
      await pipeline(source, response, { signal: ending.signal });
    } catch (error) {
      // The export ended on purpose, or the client has left.
      if (ending.signal.aborted) return;
      const details = { err: error, requestId: client.requestId };
      this.failures.warn('cannot continue an export, the client received an incomplete response', details);
    } finally {
      clearInterval(pace);
    }
  }

  /** Ends the export if the client reads too slowly. */
  private watchPace(response: ServerResponse, ending: AbortController): NodeJS.Timeout {
    const pace = new ReaderPace(this.limits);
    return setInterval(() => {
      const { socket, writableLength } = response;
      // A response that has ended has no socket.
      const sentBytes = (socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0);
      if (pace.isTooSlow({ sentBytes, isWaiting: writableLength > 0 }, performance.now())) ending.abort();
    }, this.limits.slowMs / samplesPerSpan);
  }

  private async endIfRevoked({ token }: Caller, ending: AbortController): Promise<void> {
    try {
      const [ended] = await this.tokens.findEnded([token.stamp]);
      if (ended) ending.abort(endedTokenError(ended));
    } catch (err) {
      this.failures.warn('cannot check the token of an export, retrying in 0.8 s', { err });
    }
  }

  private beginTurn(caller: Caller): () => void {
    if (this.isStopped) throw stopping();
    const { exports, forOwners } = this.limits;
    if (this.running.size >= (caller.role === 'owner' ? exports : exports - forOwners))
      throw new ServiceError(
        'unavailable',
        'This gateway is running too many exports. Retry after the time in `Retry-After`.',
        { retryAfterSeconds: 10 },
      );
    return this.turns.take(caller, tooManyExports);
  }
}

async function* inPieces(pages: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const page of pages)
    for (let start = 0; start < page.length; start += pieceBytes)
      yield page.subarray(start, start + pieceBytes);
}

function tooManyExports(payer: string, max: number): ServiceError {
  return new ServiceError(
    'too_many_requests',
    `This ${payer} already has ${max} ${max === 1 ? 'export' : 'exports'} running at this gateway, which is the maximum. Retry when an export has ended.`,
    { retryAfterSeconds: 10 },
  );
}

function stopping(): ServiceError {
  return new ServiceError(
    'unavailable',
    'This gateway is shutting down. Retry after the time in `Retry-After`.',
  );
}
