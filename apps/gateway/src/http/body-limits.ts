import type { IncomingMessage } from 'node:http';
import { NotFoundException } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hasBody } from './early-responses.js';
import { FairShare, type Claim, type ShareLimits } from './fair-share.js';
import {
  bodyCheckIntervalMs,
  bodyLimitMs,
  maxBodyBytes,
  messageBodyLimitMs,
  minBodyCost,
  type HttpLimits,
} from './http-limits.js';
import { sendProblem } from './problem.js';
import { clientKeyOf, tooManyRequests } from './requests-in-progress.js';

/** A body that is being read. `refuse` answers its request with an error. */
interface Reading {
  readonly dueAt: number;
  readonly refuse: (error: ServiceError) => void;
}

/**
 * Limits the bodies that are being read: their total size and number, per client and overall, and the time until each body must be
 * complete.
 */
export class BodyLimits {
  private readonly share: FairShare;
  private readonly readings = new Map<Reading, Claim>();

  constructor(
    limits: ShareLimits,
    private readonly limitMs: (bytes: number) => number,
  ) {
    this.share = new FairShare(limits);
  }

  /**
   * Counts a body until the caller calls the returned function or the request ends. Calls `refuse` and returns undefined if the body
   * exceeds a limit. Calls `refuse` later if the body does not arrive in time or must give way to another body.
   */
  begin(request: IncomingMessage, refuse: Reading['refuse']): (() => void) | undefined {
    const bytes = Math.min(Number(request.headers['content-length'] ?? maxBodyBytes), maxBodyBytes);
    const claim = this.share.claim(clientKeyOf(request), Math.max(bytes, minBodyCost));
    if (!claim) {
      refuse(tooManyRequests());
      return undefined;
    }
    const reading = { dueAt: performance.now() + this.limitMs(bytes), refuse };
    this.readings.set(reading, claim);
    claim.offer(() => this.refuse(reading, tooManyRequests()));
    const end = (): void => {
      if (this.readings.delete(reading)) claim.release();
    };
    request.once('close', end);
    return end;
  }

  /** Rejects requests whose bodies have not arrived in time. */
  refuseLate(): void {
    const now = performance.now();
    for (const [reading, claim] of this.readings) {
      if (reading.dueAt > now) continue;
      claim.release();
      this.refuse(
        reading,
        new ServiceError('request_timeout', 'The body of the request did not arrive in time.'),
      );
    }
  }

  private refuse(reading: Reading, error: ServiceError): boolean {
    this.readings.delete(reading);
    reading.refuse(error);
    return true;
  }
}

/**
 * Limits the bodies that Fastify reads. Returns the limits for platform messages: the direct routes read those bodies themselves and need
 * the same limits.
 */
export function limitBodies(fastify: FastifyInstance, limits: HttpLimits): BodyLimits {
  const messages = new BodyLimits(limits.messageBodies, () => messageBodyLimitMs);
  const others = new BodyLimits(limits.bodies, bodyLimitMs);
  const ends = new WeakMap<FastifyRequest, () => void>();
  const timer = setInterval(() => {
    messages.refuseLate();
    others.refuseLate();
  }, bodyCheckIntervalMs).unref();
  fastify.addHook('onClose', (_instance, done) => {
    clearInterval(timer);
    done();
  });
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasBody(request.raw)) return done(null, payload);
    // Respond to unknown paths at once: no handler would read the body.
    if (request.is404) return done(new NotFoundException(), payload);
    const { receivesMessages = false } = request.routeOptions.config;
    const end = (receivesMessages ? messages : others).begin(request.raw, (error) => {
      if (!reply.sent) sendProblem(reply, error);
    });
    if (!end) return;
    ends.set(request, end);
    done(null, payload);
  });
  // Fastify has read the body, so stop counting it.
  fastify.addHook('preValidation', (request, _reply, done) => {
    ends.get(request)?.();
    done();
  });
  return messages;
}
