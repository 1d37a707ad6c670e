import type { FastifyInstance } from 'fastify';

/** The security headers of every response. Responses of the API are not pages, so a browser must not treat them as pages. */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/**
 * The content security policy of pages. A page may load files from this gateway and send requests to it. Scripts must not be inline. Styles
 * may be inline, because the bundled API documentation and the console's component library contain inline styles, and OBS adds inline
 * styles to the overlay. The console loads pictures with its token, and shows them as blobs.
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
 * Adds the security headers to every response, with a separate policy for pages. A page with `x-frame-options: SAMEORIGIN` lets this
 * gateway's pages frame it.
 */
export function addSecurityHeaders(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(securityHeaders);
    done();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    const type = reply.getHeader('content-type');
    // A service worker gets its policy from the response with its script.
    if (typeof type === 'string' && /^text\/html|javascript/.test(type)) {
      const ancestors = reply.getHeader('x-frame-options') === 'SAMEORIGIN' ? "'self'" : "'none'";
      void reply.header('content-security-policy', `${pagePolicy}; frame-ancestors ${ancestors}`);
    }
    // Remove the policy of the API from a 304: the browser stores the headers of a 304 with the stored file, so a page would get this
    // policy.
    if (reply.statusCode === 304) void reply.removeHeader('content-security-policy');
    done(null, payload);
  });
}
