import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { addDirectRoute, type DirectResponse, type DirectRoute } from '../http/direct-routes.js';
import { HttpMetrics } from '../http/http-metrics.js';
import { RequestLog, type LoggedRequest } from '../http/request-log.js';
import type { ServiceError } from '@stream-events/contracts';
import { webhookKeysPath, webhookPath } from '@stream-events/platforms';
import { WebhookService } from './webhook.service.js';

/**
 * Serves the platform's callbacks without Fastify (`DirectRoutes`). `WebhookController` serves the requests that a direct route
 * declines, and the paths that have no direct route: callbacks for one event type, and callbacks with the fingerprint of an unconfigured
 * secret.
 */
@Injectable()
export class WebhookRoute {
  constructor(
    private readonly webhook: WebhookService,
    private readonly log: RequestLog,
    private readonly metrics: HttpMetrics,
  ) {}

  attach(fastify: FastifyInstance): void {
    addDirectRoute(fastify, webhookPath, this.routeOf(webhookPath, ''));
    for (const fingerprint of this.webhook.fingerprints)
      addDirectRoute(
        fastify,
        `${webhookKeysPath}/${fingerprint}`,
        this.routeOf(`${webhookKeysPath}/:fingerprint`, fingerprint),
      );
  }

  private routeOf(pattern: string, fingerprint: string): DirectRoute {
    return {
      pattern,
      handle: ({ headers }: IncomingMessage, body: Buffer, requestId: string): Promise<DirectResponse> =>
        this.webhook.receive({ headers, body, pathType: undefined, fingerprint, requestId }),
      onClosed: (status: number, startedAtMs: number): void =>
        this.metrics.note(pattern, status, startedAtMs),
      onFailed: (error: ServiceError, request: LoggedRequest): void => this.log.noteFailure(error, request),
    };
  }
}
