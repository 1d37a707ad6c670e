import type { components } from './api.js';

/** An error response of the service (RFC 9457). */
export type Problem = components['schemas']['Problem'];

/** How the service rejected or ended a stream of live events. */
export interface LiveErrorFacts {
  /** HTTP status, if the service rejected the request. */
  status?: number;
  /** Body of the rejection; undefined if the body is not a problem document. */
  problem?: Problem | undefined;
  /** Close code, if the service ended an open stream (see `closeCodes`). */
  closeCode?: number;
}

/**
 * The service rejected or ended the live events. If the client throws this error, another attempt would fail too. If the error is the
 * `cause` of a `Retry`, the client tries again.
 */
export class LiveError extends Error {
  override readonly name = 'LiveError';
  readonly status: number | undefined;
  readonly problem: Problem | undefined;
  readonly closeCode: number | undefined;

  constructor(message: string, { status, problem, closeCode }: LiveErrorFacts = {}) {
    super(message);
    this.status = status;
    this.problem = problem;
    this.closeCode = closeCode;
  }

  /** Creates the error for a response that is not an event stream. */
  static async fromResponse(response: Response): Promise<LiveError> {
    const { status } = response;
    const problem = await readProblem(response);
    const type = response.headers.get('content-type') ?? 'no content type';
    const detail =
      problem?.detail ??
      `expected an event stream, got ${type}. Check that the URL is the address of the service.`;
    return new LiveError(`${status}: ${detail}`, { status, problem });
  }
}

async function readProblem(response: Response): Promise<Problem | undefined> {
  if (!response.headers.get('content-type')?.startsWith('application/problem+json')) return undefined;
  try {
    return (await response.json()) as Problem; // Safe cast: the content type is that of a problem document.
  } catch {
    return undefined; // The body is incomplete or not JSON. The status is enough.
  }
}
