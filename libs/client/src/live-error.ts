import type { components } from './api.js';

/** An error as the service describes it (RFC 9457). */
export type Problem = components['schemas']['Problem'];

/** What the service said when it refused or ended the live events. */
export interface LiveErrorFacts {
  /** The HTTP status, when it refused them. */
  status?: number;
  /** What it answered with. */
  problem?: Problem | undefined;
  /** The close code, when it ended them; 4401: the token is valid no more. */
  closeCode?: number;
}

/** The service refused live events, or ended them; trying again gives the same unless it says otherwise. */
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

  /** The error that an answer without live events amounts to. */
  static async fromResponse(response: Response): Promise<LiveError> {
    const { status } = response;
    const problem = await readProblem(response);
    const type = response.headers.get('content-type') ?? 'no content type';
    const detail = problem?.detail ?? `${type} instead of live events. Is this the address of the service?`;
    return new LiveError(`${status}: ${detail}`, { status, problem });
  }
}

async function readProblem(response: Response): Promise<Problem | undefined> {
  if (!response.headers.get('content-type')?.startsWith('application/problem+json')) return undefined;
  try {
    return (await response.json()) as Problem; // holds: its content type says so
  } catch {
    return undefined; // Cut, or not what it claims to be: the status says enough.
  }
}
