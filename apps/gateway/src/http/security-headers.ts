import type { FastifyInstance } from 'fastify';

/** The headers of every response. No response of the API is a page, so a browser must not treat one as a page. */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/**
 * What a page may do: load its own files, and send requests to this gateway. Styles may be inline, because the bundled API
 * documentation and the component library of the console have some, and OBS adds some to the overlay; scripts may not. The console
 * loads pictures with its token, and shows them as blobs.
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

/** Adds the security headers to every response, with a policy of its own for pages. A page may allow frames of this gateway around it. */
export function addSecurityHeaders(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(securityHeaders);
    done();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    const type = reply.getHeader('content-type');
    // A service worker has the policy of its script.
    if (typeof type === 'string' && /^text\/html|javascript/.test(type)) {
      const ancestors = reply.getHeader('x-frame-options') === 'SAMEORIGIN' ? "'self'" : "'none'";
      void reply.header('content-security-policy', `${pagePolicy}; frame-ancestors ${ancestors}`);
    }
    // On a 304, a browser replaces the stored headers of the file with those of the response, and a page would get the policy of the API.
    if (reply.statusCode === 304) void reply.removeHeader('content-security-policy');
    done(null, payload);
  });
}
