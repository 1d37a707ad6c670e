import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { addDirectRoute, type DirectResponse, type DirectRoute } from '../http/direct-routes.js';
import { RequestLog, type LoggedRequest } from '../http/request-log.js';
import type { ServiceError } from '@stream-events/contracts';
import { WebhookService } from './webhook.service.js';

/** The path that `WebhookController` serves, too. Callbacks for one event type have no direct route. */
const path = '/api/v1/platform-events/webhook';

/** Serves the platform's callback without Fastify: see `serveDirectRoutes`. */
@Injectable()
export class WebhookRoute implements DirectRoute {
  constructor(
    private readonly webhook: WebhookService,
    private readonly log: RequestLog,
  ) {}

  attach(fastify: FastifyInstance): void {
    addDirectRoute(fastify, path, this);
  }

  handle({ headers }: IncomingMessage, body: Buffer): Promise<DirectResponse> {
    return this.webhook.receive({ headers, body, pathType: undefined });
  }

  onFailed(error: ServiceError, request: LoggedRequest): void {
    this.log.noteFailure(error, request);
  }
}
