import { Inject, Injectable } from '@nestjs/common';
import {
  PlatformCallError,
  type CallFailure,
  type PlatformEndpoint,
  type PlatformReply,
} from '@stream-events/platforms';
import { Agent, request } from 'undici';
import { PlatformHealth } from './platform-health.service.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from './platform-settings.js';

/** One HTTP request to the platform. */
export interface PlatformRequest {
  endpoint: PlatformEndpoint;
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** At most so many connections to a host: as many as calls are made at once, and one for a token. */
const maxConnections = 9;

// A hundred users or streams are some 100 kB.
const maxAnswerBytes = 2 * 1024 * 1024;

// Calls have a limit of their own for the whole, shorter than this; these are for what it does not reach.
const connectTimeoutMs = 3_000;
const idleTimeoutMs = 12_000;

/** The header by which the simulator says what it is; nothing real has it. */
const simulationHeader = 'x-platform-simulation';

/** Sends requests to the platform: bounded in time, number and size; what fails, fails as a PlatformCallError. */
@Injectable()
export class PlatformHttp {
  // undici follows no redirects unless told to: credentials go nowhere else.
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
  ) {}

  /**
   * Sends a request, once.
   *
   * @throws PlatformCallError when no answer to use comes within the time; PlatformUnavailableError while the circuit is open
   */
  async send(outgoing: PlatformRequest, timeoutMs: number): Promise<PlatformReply> {
    const { endpoint } = outgoing;
    const begunAt = this.health.begin();
    try {
      const answer = await this.exchange(outgoing, timeoutMs);
      this.health.answered(begunAt, endpoint, answer.status);
      return answer;
    } catch (error) {
      const failure = toCallError(error);
      this.health.failed(begunAt, endpoint, { result: failure.failure, error: failure });
      throw failure;
    }
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async exchange(outgoing: PlatformRequest, timeoutMs: number): Promise<PlatformReply> {
    const { method, url, headers, body } = outgoing;
    const response = await request(url, {
      method,
      headers: { accept: 'application/json', 'user-agent': 'stream-events', ...headers },
      dispatcher: this.agent,
      signal: AbortSignal.timeout(timeoutMs),
      ...(body !== undefined && { body }),
    });
    const text = await response.body.text();
    const { statusCode: status } = response;
    if (status >= 500)
      throw new PlatformCallError('server_error', `The platform failed with status ${status}.`);
    this.checkPlatform(response.headers[simulationHeader] !== undefined);
    return { status, headers: response.headers, body: parseBody(text, status) };
  }

  /** Simulated and real must never mix, whatever the base URLs say. */
  private checkPlatform(isSimulation: boolean): void {
    if (isSimulation === (this.settings.platform === 'simulator')) return;
    throw new PlatformCallError(
      'wrong_platform',
      isSimulation
        ? 'What answers is a simulated platform, but PLATFORM is not simulator: check PLATFORM_API_URL and PLATFORM_AUTH_URL.'
        : 'What answers is not the simulated platform, but PLATFORM is simulator: check PLATFORM_API_URL and PLATFORM_AUTH_URL.',
    );
  }
}

function parseBody(text: string, status: number): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    // A refusal says what it has to say by its status.
    if (status >= 300) return undefined;
    throw new PlatformCallError('malformed', 'The platform answered what is no JSON.', { cause: error });
  }
}

function toCallError(error: unknown): PlatformCallError {
  if (error instanceof PlatformCallError) return error;
  // Without `instanceof Error`: below Jest, the errors of Node come from another realm.
  const { name, code } = error as { name?: unknown; code?: unknown }; // holds: undici and Node throw objects
  const [failure, message] = describeFailure(String(name), String(code));
  return new PlatformCallError(failure, message, { cause: error });
}

function describeFailure(name: string, code: string): [CallFailure, string] {
  if (name === 'TimeoutError' || /^UND_ERR_\w+_TIMEOUT$/.test(code))
    return ['timeout', 'The platform did not answer in time.'];
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return ['too_large', 'The platform answered with more than fits.'];
  return [
    'connection_failed',
    `The connection to the platform failed (${code === 'undefined' ? name : code}).`,
  ];
}
