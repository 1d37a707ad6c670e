import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { pathOf } from './paths.js';
import { sendProblem } from './problem.js';

interface Route {
  pattern: RegExp;
  hasParameters: boolean;
  methods: string[];
}

/** Knows which methods each path supports, to tell a wrong method (405) from a wrong path (404). */
@Injectable()
export class RouteMethods {
  private readonly routes: Route[] = [];

  /**
   * Records all routes that are added after this call. Also rejects requests that match a parameter only because the exact path does not
   * support the method: `DELETE /users/me` must not look for a user with the id `me`.
   */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', (route) => {
      // Skip the route of CORS preflights.
      if (route.url === '*') return;
      const hasParameters = /[:*]/.test(route.url);
      this.routes.push({ pattern: toPattern(route.url), hasParameters, methods: [route.method].flat() });
    });
    fastify.addHook('onRequest', (request, reply, done) => {
      const refusal = this.isMisrouted(request) && this.refuseMethod(request);
      if (refusal) sendProblem(reply, refusal);
      else done();
    });
  }

  /** Returns the methods of a path, sorted. Empty if the path does not exist. A fixed route hides routes with parameters. */
  methodsOf(path: string): string[] {
    const matching = this.routes.filter((route) => route.pattern.test(path));
    const fixed = matching.filter((route) => !route.hasParameters);
    const methods = (fixed.length > 0 ? fixed : matching).flatMap((route) => route.methods);
    return [...new Set(methods)].sort();
  }

  /** Returns the 405 error if the path exists but does not support the method, otherwise undefined. */
  refuseMethod({ method, url }: Pick<FastifyRequest, 'method' | 'url'>): ServiceError | undefined {
    const allow = this.methodsOf(pathOf(url));
    if (allow.length === 0 || allow.includes(method)) return undefined;
    return new ServiceError(
      'method_not_allowed',
      `This path does not support ${method}. It supports ${allow.join(', ')}.`,
      { allow },
    );
  }

  private isMisrouted({ method, url, routeOptions }: FastifyRequest): boolean {
    return routeOptions.url?.includes(':') === true && !this.methodsOf(pathOf(url)).includes(method);
  }
}

function toPattern(url: string): RegExp {
  const escaped = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+');
  return new RegExp(`^${escaped.replace('\\*', '.*')}$`);
}
