import { createServer } from 'node:net';

/**
 * Finds a TCP port on 127.0.0.1 that is free now: `preferred`, or a port that the system chooses when `preferred` is 0 or in use. Another
 * program can take the port before the caller uses it.
 */
export async function findFreePort(preferred: number): Promise<number> {
  return (await tryToListen(preferred)) ?? (await tryToListen(0)) ?? refuse();
}

/**
 * Listens briefly, and returns the port. Returns undefined when the port is in use, or when this user has no permission to listen on it.
 */
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
