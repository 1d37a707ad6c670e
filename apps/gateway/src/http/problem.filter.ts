import { Catch, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { errorCatalogue, ServiceError } from '@stream-events/contracts';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from './paths.js';
import { sendProblem, toServiceError } from './problem.js';
import { RouteMethods } from './route-methods.js';

/** Responds to every failed request, routed or not, with a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter<unknown> {
  private readonly refusals: FailureLog;

  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly routes: RouteMethods,
  ) {
    this.refusals = new FailureLog(logger);
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = this.explainUnrouted(toServiceError(thrown), request);
    this.log(error, request);
    if (!reply.sent) sendProblem(reply, error);
  }

  /** Converts 404 to 405 when the path exists with other methods. */
  private explainUnrouted(error: ServiceError, request: FastifyRequest): ServiceError {
    if (error.code !== 'not_found' || !request.is404) return error;
    const allow = this.routes.methodsOf(pathOf(request.url));
    if (allow.length === 0) return error;
    return new ServiceError(
      'method_not_allowed',
      `This path does not support ${request.method}. It supports ${allow.join(', ')}.`,
      { allow },
    );
  }

  private log(error: ServiceError, request: FastifyRequest): void {
    const { logLevel, status } = errorCatalogue[error.code];
    const details = {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url,
      status,
      err: error.cause ?? error,
    };
    // In an outage, thousands of requests per second fail for one reason.
    if (error.code === 'unavailable') this.refusals.warn('cannot serve requests', details);
    else this.logger[logLevel](details, 'request failed');
  }
}
