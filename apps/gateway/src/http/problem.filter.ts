import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { ServiceError } from '@stream-events/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem, toServiceError } from './problem.js';
import { RequestLog } from './request-log.js';
import { RouteMethods } from './route-methods.js';

/**
 * Sends a problem document for each error that reaches Nest, including requests to unknown paths. Direct routes, hooks, and limits send
 * their own.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter<unknown> {
  constructor(
    private readonly log: RequestLog,
    private readonly routes: RouteMethods,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = this.explainUnrouted(toServiceError(thrown), request);
    const { id, method, routeOptions } = request;
    this.log.noteFailure(error, { id, method, route: routeOptions.url });
    if (!reply.sent) sendProblem(reply, error);
  }

  /** Turns 404 into 405 if the path exists for other methods. */
  private explainUnrouted(error: ServiceError, request: FastifyRequest): ServiceError {
    if (error.code !== 'not_found' || !request.is404) return error;
    return this.routes.refuseMethod(request) ?? error;
  }
}
