import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { freePort } from '@stream-events/testing';
import { findFreePort } from './free-port.js';

describe(findFreePort.name, () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
  });

  async function listen(host: string): Promise<number> {
    server = createServer().listen(0, host);
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
    return address.port;
  }

  it('returns the preferred port when it is free', async () => {
    const port = await freePort(); // outside the range that the system assigns

    expect(await findFreePort(port)).toBe(port);
  });

  it.each(['127.0.0.1', '0.0.0.0'])(
    'returns another port when the preferred one is taken on %s',
    async (host) => {
      const port = await listen(host);

      const found = await findFreePort(port);

      expect(found).not.toBe(port);
      expect(found).toBeGreaterThan(0);
    },
  );
});
