import type { Logger } from '@stream-events/service';
import fastify from 'fastify';
import { warnOfUntrustedProxies } from './untrusted-proxies.js';

/** Returns the warnings that these requests cause. */
async function warningsFor(trustProxy: boolean, requests: Record<string, string>[]): Promise<unknown[]> {
  const warnings: unknown[] = [];
  const logger: Pick<Logger, 'warn'> = { warn: (fields: unknown) => void warnings.push(fields) };
  const server = fastify({ trustProxy });
  warnOfUntrustedProxies(server, logger as Logger); // Safe cast: the function only calls `warn`.
  server.get('/', () => 'ok');
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  for (const headers of requests) await fetch(url, { headers });
  await server.close();
  return warnings;
}

describe(warnOfUntrustedProxies.name, () => {
  const forwarded = { 'x-forwarded-for': '192.0.2.1' };

  it('warns once about forwarded headers that are not trusted', async () => {
    expect(await warningsFor(false, [forwarded, forwarded])).toEqual([{ address: '127.0.0.1' }]);
  });

  it('does not warn about trusted headers, or without forwarded headers', async () => {
    expect(await warningsFor(true, [forwarded])).toEqual([]);
    expect(await warningsFor(false, [{}])).toEqual([]);
  });
});
