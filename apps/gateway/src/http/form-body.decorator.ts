import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { decodeUtf8, readJsonObject, ServiceError, type MessageClass } from '@stream-events/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseBody } from './json-body.decorator.js';
import { addRouteConfig } from './route-config.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    acceptsForms?: boolean;
  }
}

const formType = 'application/x-www-form-urlencoded';

/** Lets a route accept forms in addition to JSON. Use with `FormOrJsonBody`. */
export function AcceptsForms(): MethodDecorator {
  return (_target, _name, { value: handler }) => addRouteConfig(handler as object, { acceptsForms: true }); // Safe cast: a method decorator receives the method.
}

/** Accepts form bodies on routes with `AcceptsForms`. Other routes reject forms with 415, like any unsupported content type. */
export function takeForms(fastify: FastifyInstance): void {
  fastify.addContentTypeParser(formType, { parseAs: 'buffer' }, (request, body, done) => {
    if (request.routeOptions.config.acceptsForms || request.is404) done(null, body);
    else
      done(
        new ServiceError(
          'unsupported_media_type',
          'Send the body with the header Content-Type: application/json.',
        ),
      );
  });
}

/** Reads a form or a JSON object, and validates it as an instance of a class whose fields are all text. */
export const FormOrJsonBody = createParamDecorator(
  (type: MessageClass<object>, context: ExecutionContext): object => {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Body: Buffer | undefined }>>();
    if (!isForm(request.headers['content-type'])) return parseBody(type, readJsonObject(request.body));
    const value = readForm(request.body ?? Buffer.alloc(0));
    return parseBody(type, { value, text: '', memberText: () => undefined, member: () => undefined });
  },
);

function isForm(contentType: string | undefined): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === formType;
}

/**
 * Parses a form. If a field is repeated, the last value wins, as in JSON and in queries.
 *
 * @throws ServiceError `invalid` for an invalid percent-encoding, and for bytes that are not UTF-8, before or after percent-decoding.
 * URLSearchParams would replace these bytes and thereby change a password.
 */
export function readForm(bytes: Uint8Array): Record<string, string> {
  const pairs = decodeUtf8(bytes)
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equalsAt = pair.indexOf('=');
      if (equalsAt === -1) return [decode(pair), ''] as const;
      return [decode(pair.slice(0, equalsAt)), decode(pair.slice(equalsAt + 1))] as const;
    });
  // Object.fromEntries() is safe here: it stores `__proto__` as an ordinary field.
  return Object.fromEntries(pairs);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new ServiceError('invalid', 'The form must be percent-encoded UTF-8.');
  }
}
