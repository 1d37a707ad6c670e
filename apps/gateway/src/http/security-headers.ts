import type { FastifyInstance } from 'fastify';

/** Security headers of API responses. API responses are not pages, and browsers must not render them as pages. */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/**
 * Content security policy of pages. A page can load files from this gateway and send requests to it. Inline scripts are forbidden. Inline
 * styles are allowed, because the API documentation and the console's components use them and OBS adds them to the overlay. The console
 * loads pictures with its token and shows them as blobs.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/**
 * Adds the security headers to every response that Fastify sends. Pages get their own policy. The gateway's own pages can frame a page that
 * sets `x-frame-options: SAMEORIGIN`. Caches must not store responses of the API.
 */
export function addSecurityHeaders(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(securityHeaders);
    done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const type = reply.getHeader('content-type');
    // Include scripts: a service worker takes its policy from the response that delivered its script.
    if (typeof type === 'string' && /^text\/html|javascript/.test(type)) {
      const ancestors = reply.getHeader('x-frame-options') === 'SAMEORIGIN' ? "'self'" : "'none'";
      void reply.header('content-security-policy', `${pagePolicy}; frame-ancestors ${ancestors}`);
    }
    // Do not send the API's policy with a 304. The browser would store it with the cached page and apply it there.
    if (reply.statusCode === 304) void reply.removeHeader('content-security-policy');
    // Only controller routes declare access. Pages and pictures have their own rule, and the API descriptions are public.
    if (request.routeOptions.config.access !== undefined && !reply.hasHeader('cache-control'))
      void reply.header('cache-control', 'no-store');
    done(null, payload);
  });
}
