import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';

/** Records the methods of each path, to distinguish a wrong method (405) from a wrong path (404). */
@Injectable()
export class RouteMethods {
  private readonly routes: { pattern: RegExp; methods: string[] }[] = [];

  /** Records every route that is added from now on. */
  watch(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', (route) => {
      if (route.url.includes('*')) return;
      this.routes.push({ pattern: toPattern(route.url), methods: [route.method].flat() });
    });
  }

  /** The methods of a path, sorted. Empty when the path does not exist. */
  methodsOf(path: string): string[] {
    const methods = this.routes.filter((route) => route.pattern.test(path)).flatMap((route) => route.methods);
    return [...new Set(methods)].sort();
  }
}

function toPattern(url: string): RegExp {
  const escaped = url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+');
  return new RegExp(`^${escaped}$`);
}
