import type { FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../gateway.config.js';
import { PublicUrl } from './public-url.js';

const path = '/api/v1/platform-events?cursor=a';

/** The URL that a client with this scheme and host gets. */
function urlFor(
  protocol: string,
  host: string | undefined,
  publicUrl?: string,
  localAddress = '127.0.0.1',
): string {
  const request = { protocol, host, socket: { localAddress, localPort: 8000 } };
  // Safe cast: PublicUrl only reads these members.
  const sut = new PublicUrl({ PUBLIC_URL: publicUrl } as GatewayConfig);
  return sut.of(request as unknown as FastifyRequest, path);
}

describe(PublicUrl.name, () => {
  it('uses PUBLIC_URL if set, whatever the client sends', () => {
    expect(urlFor('http', 'evil.example', 'https://events.example/base')).toBe(
      `https://events.example/base${path}`,
    );
  });

  it.each(['localhost', 'events.example:8443', '127.0.0.1:8000', '[::1]:8000', '[::ffff:127.0.0.1]'])(
    'uses the host %s of the request',
    (host) => {
      expect(urlFor('http', host)).toBe(`http://${host}${path}`);
      expect(urlFor('https', host)).toBe(`https://${host}${path}`);
    },
  );

  it.each([
    undefined,
    '',
    'evil.example/path',
    'user@evil.example',
    'a b',
    '"><script>',
    'evil.example:80:80',
    'evil.example?',
    '[::1',
    'x\ny',
  ])('ignores the invalid host %j', (host) => {
    expect(urlFor('http', host)).toBe(`http://127.0.0.1:8000${path}`);
  });

  it('puts an IPv6 address in brackets', () => {
    expect(urlFor('http', undefined, undefined, '::1')).toBe(`http://[::1]:8000${path}`);
  });

  it.each(['javascript', 'HTTPS', 'http://evil.example/?', ''])('ignores the invalid scheme %j', (scheme) => {
    expect(urlFor(scheme, 'localhost')).toBe(`http://localhost${path}`);
  });
});
