import type { Problem } from '@stream-events/client';

/** The service rejected a request or did not respond, or another server responded in its place. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** HTTP status; 0 if there was no response. */
    readonly status: number,
    readonly problem: Problem | undefined,
    /** Identifies the request in the service's logs. */
    readonly requestId: string | undefined,
  ) {
    super(problem?.detail ?? detailWithoutProblem(status));
  }

  /** Validation errors by request field, shown beside the form fields. */
  get fieldErrors(): Record<string, string> {
    const errors = Object.entries(this.problem?.errors ?? {});
    return Object.fromEntries(errors.map(([field, messages]) => [field, messages.join('; ')]));
  }
}

/** Every error response of the service has a problem document. Other responses come from a proxy in front of it. */
function detailWithoutProblem(status: number): string {
  return status === 0
    ? 'The service does not respond.'
    : `Another server, such as a proxy, responded with status ${status} instead of the service.`;
}

/** Whether retrying the request soon can succeed. */
export function isTemporary(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 502);
}

const retryAgainMs = 5_000;

/** Returns the pause in milliseconds before a failed query's next round of retries; false without an error, or if retrying cannot help. */
export function retryInterval(error: unknown): number | false {
  return isTemporary(error) ? retryAgainMs : false;
}

export interface Fault {
  title: string;
  detail: string;
  advice: string;
}

/** Describes anything that a query, mutation, or component throws. */
export function describeFault(error: unknown): Fault {
  if (!(error instanceof ApiError))
    return {
      title: 'This page has a defect',
      detail: error instanceof Error ? error.message : String(error),
      advice: 'Reload the page. If the error happens again, report it with the steps that cause it.',
    };
  const { status, problem, message: detail } = error;
  const title = problem?.title ?? (status === 0 ? 'No connection' : 'Unexpected response');
  const isFromElsewhere = status > 0 && !problem;
  const advice = isFromElsewhere
    ? 'Check the proxy in front of the service, then try again.'
    : adviceFor(status, error.requestId);
  return { title, detail, advice };
}

function adviceFor(status: number, requestId: string | undefined): string {
  if (status === 0) return 'Check that the service is running and that this device can reach it.';
  if (status === 401) return 'Sign in again.';
  if (status === 403) return 'Ask an owner of this installation to do this, or to change your role.';
  if (status === 404) return 'The object may have been deleted, or the address is wrong.';
  if (status === 409) return 'Reload to see the current state, then decide again.';
  if (status === 429) return 'Wait a moment, then try again.';
  if (status === 503) return 'A part of the service is down or starting.';
  if (status >= 500)
    return `Search the service’s logs for ${requestId ?? 'the X-Request-Id of the response'}.`;
  return 'Correct the input, then try again.';
}
