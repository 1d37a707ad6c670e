import { createServer } from 'node:net';

/**
 * Finds a free TCP port on 127.0.0.1: `preferred`, or a port from the system if `preferred` is 0 or in use. Another program can take the
 * port before you use it.
 */
export async function findFreePort(preferred: number): Promise<number> {
  return (await tryToListen(preferred)) ?? (await tryToListen(0)) ?? refuse();
}

/** Returns undefined if the port is in use or if this user may not listen on it. */
function tryToListen(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      const taken = typeof address === 'object' && address !== null ? address.port : undefined;
      server.close(() => resolve(taken));
    });
  });
}

function refuse(): never {
  throw new Error('Cannot listen on any TCP port of 127.0.0.1. Check that the loopback interface is up.');
}
