import { HttpException } from '@nestjs/common';
import { errorCatalogue, ServiceError, type ErrorCode } from '@stream-events/contracts';
import { toUnavailable } from '@stream-events/database';
import type { FastifyReply } from 'fastify';
import type { Problem } from './problem.dto.js';

const codes = Object.keys(errorCatalogue) as ErrorCode[]; // holds: the catalogue's keys are the codes
const codeByStatus = new Map<number, ErrorCode>(codes.map((code) => [errorCatalogue[code].status, code]));

// What Fastify and Node say about a request before it reaches a handler, in our words.
const detailByFastifyCode: Record<string, string> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The body must be sent with the header Content-Type: application/json.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is larger than 256 KiB.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as its Content-Length says.',
  FST_ERR_BAD_URL: 'The URL is not validly encoded.',
  FST_ERR_MAX_PARAM_LENGTH: 'A part of the path is too long.',
};

// The same once Nest has made an exception of its own of it, which has the status only.
const detailByCode: Partial<Record<ErrorCode, string | undefined>> = {
  unsupported_media_type: detailByFastifyCode.FST_ERR_CTP_INVALID_MEDIA_TYPE,
  too_large: detailByFastifyCode.FST_ERR_CTP_BODY_TOO_LARGE,
  not_found: 'There is nothing at this path.',
};

/** The error of ours that anything thrown while a request was handled amounts to. */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const status = statusOf(thrown);
  if (status >= 400 && status < 500) {
    const code = codeByStatus.get(status) ?? 'invalid';
    // Without its cause, which would be logged: it may repeat the URL, and a URL may hold a token by mistake.
    return new ServiceError(code, detailOf(thrown, code));
  }
  // Only what is nobody's answer yet may be the database's: other messages repeat what clients wrote, "timeout" too.
  const error = toUnavailable(thrown);
  if (error instanceof ServiceError) return error;
  return new ServiceError('internal', 'The service failed unexpectedly. The fault is logged.', {
    cause: error,
  });
}

/** The body of an error's answer. */
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

/** Answers a request with an error. */
export function sendProblem(reply: FastifyReply, error: ServiceError): void {
  void reply
    .code(errorCatalogue[error.code].status)
    .headers(problemHeaders(error))
    .send(printProblemBody(toProblem(error)));
}

/** An error's whole answer as text, for a socket that no reply writes to; the connection ends with it. */
export function printProblem(error: ServiceError): string {
  return printAnswer(toProblem(error), problemHeaders(error));
}

/** A problem document as the text of an answer that ends its connection. */
export function printAnswer(problem: Problem, headers: Record<string, string> = {}): string {
  const body = printProblemBody(problem);
  const allHeaders = {
    'content-type': 'application/problem+json',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(allHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${problem.title}\r\n${lines.join('')}\r\n${body}`;
}

/** Ends with a newline, like every JSON response: hooks of the server do not see all of these responses. */
function printProblemBody(problem: Problem): string {
  return `${JSON.stringify(problem)}\n`;
}

function problemHeaders(error: ServiceError): Record<string, string> {
  return {
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
