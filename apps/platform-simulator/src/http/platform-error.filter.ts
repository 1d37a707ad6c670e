import { STATUS_CODES } from 'node:http';
import { Catch, HttpException, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { LOGGER, type Logger } from '@stream-events/service';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The platform's error format (FACTS.md §4.2). If the subscription exists already, the error also contains its id. */
export interface PlatformError {
  error: string;
  status: number;
  message: string;
  id?: string;
}

/** Converts every error to the platform's error format. */
@Catch()
export class PlatformErrorFilter implements ExceptionFilter {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const body = describeError(error);
    if (body.status >= 500) this.logger.error({ err: error }, 'request failed unexpectedly');
    const http = host.switchToHttp();
    const { status, message } = body;
    const isOAuth = http.getRequest<FastifyRequest>().url.startsWith('/oauth2');
    // OAuth endpoints omit `error`, as on the platform (FACTS.md §4.1).
    void http
      .getResponse<FastifyReply>()
      .status(status)
      .send(isOAuth ? { status, message } : body);
  }
}

function describeError(error: unknown): PlatformError {
  const status = statusOf(error);
  const title = STATUS_CODES[status] ?? '';
  if (status >= 500) return { error: title, status, message: 'internal error, see the log of the simulator' };
  const { message, id } = partsOf(error);
  return { error: title, status, message, ...(id !== undefined && { id }) };
}

/** Joins all faults of a validation error into one message. If the subscription exists already, adds its id. */
function partsOf(error: unknown): { message: string; id?: string } {
  const fallback = error instanceof Error ? error.message : 'the request cannot be read';
  const response = error instanceof HttpException ? error.getResponse() : null;
  if (typeof response !== 'object' || response === null) return { message: fallback };
  const message = 'message' in response ? response.message : fallback;
  const faults: unknown[] = Array.isArray(message) ? message : [message];
  return {
    message: faults.every((fault) => typeof fault === 'string') ? faults.join('; ') : fallback,
    ...('id' in response && typeof response.id === 'string' && { id: response.id }),
  };
}

/** Nest's errors have a method for the status. Fastify's own errors (invalid JSON, body too large) have the field `statusCode`. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const { statusCode } = Object(error) as { statusCode?: unknown };
  return typeof statusCode === 'number' && statusCode >= 400 ? statusCode : 500;
}
