import { createServer } from 'node:net';

/**
 * A TCP port that nothing listens on at 127.0.0.1 at this moment: `preferred` if it is free, else one that
 * the system chooses (0 always lets the system choose). Another program may take it before it is used.
 */
export async function findFreePort(preferred: number): Promise<number> {
  return (await tryToListen(preferred)) ?? (await tryToListen(0)) ?? refuse();
}

/** Listens for a moment. Undefined when the port is in use or not allowed for this user. */
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
  throw new Error('No TCP port on 127.0.0.1 could be opened. Is the loopback interface up?');
}
