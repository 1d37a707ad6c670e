import { Inject, Injectable } from '@nestjs/common';
import { parseJson, type CallMethod } from '@stream-events/contracts';
import {
  PlatformCallError,
  type CallFailure,
  type PassedReply,
  type PlatformEndpoint,
  type PlatformReply,
} from '@stream-events/platforms';
import { Agent, request } from 'undici';
import { PlatformClock } from './platform-clock.js';
import { PlatformHealth } from './platform-health.service.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from './platform-settings.js';

export interface PlatformRequest {
  endpoint: PlatformEndpoint;
  method: CallMethod;
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** How many connections to open per host: one for each concurrent call, and one for token requests. */
const maxConnections = 9;

// Maximum size of a reply. The largest normal reply to a call of the service itself has 100 users or streams and takes about 100 kB.
const maxAnswerBytes = 2 * 1024 * 1024;

// How long connecting may take. Each attempt also has its own timeout of at most 10 s.
const connectTimeoutMs = 3_000;
const idleTimeoutMs = 12_000;

// Error codes of an attempt to connect that failed.
const connectErrors = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** The simulator sends this header with every reply. A real platform never does. */
const simulationHeader = 'x-platform-simulation';

/** Sends requests to the platform. Limits time, connections, and size. A request without a usable reply throws a PlatformCallError. */
@Injectable()
export class PlatformHttp {
  // undici follows no redirects by default, so credentials reach no other host.
  private readonly agent = new Agent({
    connections: maxConnections,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
    maxResponseSize: maxAnswerBytes,
  });

  constructor(
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    private readonly health: PlatformHealth,
    private readonly clock: PlatformClock,
  ) {}

  /**
   * Sends a request without retries.
   *
   * @throws PlatformCallError when no usable reply arrives in time; PlatformUnavailableError while the circuit is open
   */
  async send(outgoing: PlatformRequest, timeoutMs: number): Promise<PlatformReply> {
    const { endpoint } = outgoing;
    const begunAt = this.health.begin();
    try {
      const { status, headers, bytes } = await this.exchange(outgoing, timeoutMs);
      if (status >= 500) throw serverError(status);
      const answer = { status, headers, body: parseBody(bytes.toString(), status) };
      this.health.answered(begunAt, endpoint, status);
      return answer;
    } catch (error) {
      throw this.noteFailure(begunAt, endpoint, error);
    }
  }

  /**
   * Sends a client's request without retries, and returns the reply, whatever its status.
   *
   * @throws like `send`
   */
  async pass(outgoing: PlatformRequest, timeoutMs: number): Promise<PassedReply> {
    const { endpoint } = outgoing;
    const begunAt = this.health.begin();
    try {
      const answer = await this.exchange(outgoing, timeoutMs);
      if (answer.status >= 500) this.noteFailure(begunAt, endpoint, serverError(answer.status));
      else this.health.answered(begunAt, endpoint, answer.status);
      return answer;
    } catch (error) {
      throw this.noteFailure(begunAt, endpoint, error);
    }
  }

  /** Closes the connections and aborts requests in progress. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private noteFailure(begunAt: number, endpoint: PlatformEndpoint, error: unknown): PlatformCallError {
    const failure = toCallError(error);
    this.health.failed(begunAt, endpoint, { result: failure.failure, error: failure });
    return failure;
  }

  private async exchange(outgoing: PlatformRequest, timeoutMs: number): Promise<PassedReply> {
    const { method, url, headers, body } = outgoing;
    const sentAt = Date.now();
    const response = await request(url, {
      method,
      headers: { accept: 'application/json', 'user-agent': 'stream-events', ...headers },
      dispatcher: this.agent,
      signal: AbortSignal.timeout(timeoutMs),
      ...(body !== undefined && { body }),
    });
    this.clock.note(response.headers.date, sentAt, Date.now());
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const { statusCode: status } = response;
    // Check only replies below status 500. A proxy in front of the platform may have sent a reply with status 500 or above.
    if (status < 500) this.checkPlatform(response.headers[simulationHeader] !== undefined);
    return { status, headers: response.headers, bytes };
  }

  /** Rejects replies from the wrong platform. Simulated and real data must never mix, even when a base URL is wrong. */
  private checkPlatform(isSimulation: boolean): void {
    if (isSimulation === (this.settings.platform === 'simulator')) return;
    throw new PlatformCallError(
      'wrong_platform',
      isSimulation
        ? 'The server is a simulated platform, but PLATFORM is not simulator. Check PLATFORM_API_URL and PLATFORM_AUTH_URL.'
        : 'The server is not the simulated platform, but PLATFORM is simulator. Check PLATFORM_API_URL and PLATFORM_AUTH_URL.',
    );
  }
}

function serverError(status: number): PlatformCallError {
  return new PlatformCallError('server_error', `The platform failed with status ${status}.`);
}

function parseBody(text: string, status: number): unknown {
  if (text === '') return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    // The body of a rejection may be invalid JSON: the status says enough.
    if (status >= 300) return undefined;
    throw new PlatformCallError('malformed', 'The platform sent a reply that is not JSON.', { cause: error });
  }
}

/** Whether the request was not sent, because no connection could be opened. */
export function isConnectError(error: unknown): boolean {
  const { cause } = error as { cause?: unknown }; // Safe cast: code in this folder throws errors.
  return connectErrors.includes(String((cause as { code?: unknown } | undefined)?.code));
}

function toCallError(error: unknown): PlatformCallError {
  if (error instanceof PlatformCallError) return error;
  // Do not use `instanceof Error`: under Jest, Node's errors come from another realm.
  const { name, code } = error as { name?: unknown; code?: unknown }; // Safe cast: undici and Node throw objects.
  const [failure, message] = describeFailure(String(name), String(code));
  return new PlatformCallError(failure, message, { cause: error });
}

function describeFailure(name: string, code: string): [CallFailure, string] {
  if (name === 'TimeoutError' || /^UND_ERR_\w+_TIMEOUT$/.test(code))
    return ['timeout', 'The platform did not reply in time.'];
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return ['too_large', 'The platform sent a reply larger than 2 MiB.'];
  return [
    'connection_failed',
    `The connection to the platform failed (${code === 'undefined' ? name : code}).`,
  ];
}
