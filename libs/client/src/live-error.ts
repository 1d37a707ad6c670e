import type { components } from './api.js';

/** An error response from the service (RFC 9457). */
export type Problem = components['schemas']['Problem'];

/** How the service refused or ended the live events. */
export interface LiveErrorFacts {
  /** The HTTP status, if the service refused the request. */
  status?: number;
  /** The body of that response. */
  problem?: Problem | undefined;
  /** The close code, if the service ended an open stream: see `closeCodes`. */
  closeCode?: number;
}

/**
 * The service refused or ended the live events. When the client throws this error, another attempt would fail the same way. When
 * this error is the `cause` of a `Retry`, the client makes another attempt.
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
    return undefined; // The body is cut or is not JSON. The status is enough.
  }
}
