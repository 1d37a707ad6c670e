import type { ServerResponse } from 'node:http';
import { HttpException } from '@nestjs/common';
import { errorCatalogue, ServiceError, type ErrorCode } from '@stream-events/contracts';
import { toUnavailable } from '@stream-events/database';
import type { FastifyReply } from 'fastify';
import type { Problem } from './problem.dto.js';
import { securityHeaders } from './security-headers.js';

const codes = Object.keys(errorCatalogue) as ErrorCode[]; // Safe cast: the keys of the catalog are the codes.
const codeByStatus = new Map<number, ErrorCode>(codes.map((code) => [errorCatalogue[code].status, code]));

// The API's own messages for errors that Fastify and Node raise before a request reaches a handler.
const detailByFastifyCode: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Send the body with the header Content-Type: application/json.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is larger than 256 KiB.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The length of the body differs from its Content-Length.',
  FST_ERR_BAD_URL: 'The URL has an invalid percent-encoding.',
  FST_ERR_MAX_PARAM_LENGTH: 'A segment of the path is too long.',
};

// Messages by error code, because Nest replaces some of Fastify's errors with its own exceptions, which keep only the status.
const detailByCode: Partial<Record<ErrorCode, string | undefined>> = {
  unsupported_media_type: detailByFastifyCode.FST_ERR_CTP_INVALID_MEDIA_TYPE,
  too_large: detailByFastifyCode.FST_ERR_CTP_BODY_TOO_LARGE,
  not_found: 'Nothing exists at this path. See /api/docs/ for all paths.',
};

/** Converts anything that a handler throws into the error that the client gets. */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const status = statusOf(thrown);
  if (status >= 400 && status < 500) {
    const code = codeByStatus.get(status) ?? 'invalid';
    // Drop the cause, because it would be logged. The cause may contain the URL, into which a client may have put a token by mistake.
    return new ServiceError(code, detailOf(thrown, code));
  }
  // Check for database errors last. `toUnavailable` recognizes some of them by words such as "timeout", and messages of other errors can
  // repeat such words from client input.
  const error = toUnavailable(thrown);
  if (error instanceof ServiceError) return error;
  return new ServiceError(
    'internal',
    'The service failed unexpectedly. Search its logs for the X-Request-Id of this response.',
    {
      cause: error,
    },
  );
}

export function toProblem(error: ServiceError): Problem {
  const { status, title } = errorCatalogue[error.code];
  return {
    type: 'about:blank',
    title,
    status,
    detail: error.detail,
    ...(error.errors && { errors: error.errors }),
  };
}

export function sendProblem(reply: FastifyReply, error: ServiceError): void {
  void reply.send(becomeProblem(reply, error));
}

/** Sets the status and headers of an error on a reply, and returns the body to send. */
export function becomeProblem(reply: FastifyReply, error: ServiceError): string {
  void reply.code(errorCatalogue[error.code].status).headers(problemHeaders(error));
  return printProblemBody(toProblem(error));
}

/** Sends an error to a client whose request bypasses Fastify. */
export function writeProblem(
  response: ServerResponse,
  error: ServiceError,
  headers: Record<string, string>,
): void {
  const body = printProblemBody(toProblem(error));
  response
    .writeHead(errorCatalogue[error.code].status, {
      ...headers,
      ...problemHeaders(error),
      'Content-Length': Buffer.byteLength(body),
    })
    .end(body);
}

/** Builds a complete HTTP error response for a socket without a Fastify reply. The response closes the connection. */
export function printProblem(error: ServiceError, headers: Record<string, string> = {}): string {
  return printAnswer(toProblem(error), { ...headers, ...problemHeaders(error) });
}

/** Builds a complete HTTP response from a problem document. The response closes the connection. */
export function printAnswer(problem: Problem, headers: Record<string, string> = {}): string {
  const body = printProblemBody(problem);
  const allHeaders = {
    ...securityHeaders,
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${problem.title}\r\n${lines.join('')}\r\n${body}`;
}

/** Ends the document with a newline here, because some error responses bypass the hook that adds it. */
function printProblemBody(problem: Problem): string {
  return `${JSON.stringify(problem)}\n`;
}

/** Includes the security headers, because some error responses bypass the hook that adds them. */
function problemHeaders(error: ServiceError): Record<string, string> {
  return {
    ...securityHeaders,
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...(error.code === 'unauthenticated' && { 'www-authenticate': 'Token' }),
    ...(error.code === 'upgrade_required' && { upgrade: 'websocket', connection: 'Upgrade' }),
    ...(error.retryAfterSeconds !== undefined && {
      'retry-after': String(Math.ceil(error.retryAfterSeconds)),
    }),
    ...(error.allow && { allow: error.allow.join(', ') }),
  };
}

function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number')
    return error.statusCode;
  return 500;
}

function detailOf(error: unknown, code: ErrorCode): string {
  if (!(error instanceof Error)) return 'The request is invalid.';
  const known = 'code' in error ? detailByFastifyCode[String(error.code)] : undefined;
  return known ?? detailByCode[code] ?? error.message;
}
