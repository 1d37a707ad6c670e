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
};

/** The error of ours that anything thrown while a request was handled amounts to. */
export function toServiceError(thrown: unknown): ServiceError {
  const error = toUnavailable(thrown);
  if (error instanceof ServiceError) return error;
  const status = statusOf(error);
  const code = codeByStatus.get(status) ?? (status >= 400 && status < 500 ? 'invalid' : 'internal');
  if (code === 'internal')
    return new ServiceError('internal', 'The service failed unexpectedly. The fault is logged.', {
      cause: error,
    });
  return new ServiceError(code, detailOf(error, code), { cause: error });
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
    .send(JSON.stringify(toProblem(error)));
}

function problemHeaders(error: ServiceError): Record<string, string> {
  return {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...(error.code === 'unauthenticated' && { 'www-authenticate': 'Token' }),
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
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    return detailByFastifyCode[error.code] ?? error.message;
  }
  if (code === 'not_found') return 'There is nothing at this path.';
  return error instanceof Error ? error.message : 'The request is invalid.';
}
