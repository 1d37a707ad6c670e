import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.js';

/** A TCP proxy in front of a server. Tests use it to simulate outages. */
export class CuttableProxy {
  private readonly pairs = new Set<[Socket, Socket]>();
  private isHanging = false;

  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {}

  /** Starts a proxy for the server at the URL `target`. */
  static async start(target: string): Promise<CuttableProxy> {
    const { hostname, port } = new URL(target);
    const server = createServer();
    const own = await freePort(); // another program could take a port from the system after a cut
    server.listen(own, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new CuttableProxy(server, own);
    server.on('connection', (client) => proxy.join(client, connect(Number(port), hostname)));
    return proxy;
  }

  /** The URL `target` with the proxy's host and port. */
  urlOf(target: string): string {
    const url = new URL(target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  /** Simulates a dead server process: breaks connections and refuses new ones. */
  async cut(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const [client, server] of this.pairs) {
      client.destroy();
      server.destroy();
    }
    await closed;
  }

  /** Simulates a suspended server process: connections stay open and new ones are accepted, but no data flows. */
  hang(): void {
    this.isHanging = true;
    for (const [client, server] of this.pairs) {
      client.unpipe(server).pause();
      server.unpipe(client).pause();
    }
  }

  /** Ends the outage. After `hang`, pending requests reach the server and get their replies. */
  async heal(): Promise<void> {
    if (this.isHanging) for (const [client, server] of this.pairs) client.pipe(server).pipe(client);
    this.isHanging = false;
    if (this.server.listening) return;
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async stop(): Promise<void> {
    if (this.server.listening) await this.cut();
  }

  private join(client: Socket, server: Socket): void {
    const pair: [Socket, Socket] = [client, server];
    this.pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined); // the `close` event follows and cleans up
      socket.on('close', () => {
        this.pairs.delete(pair);
        client.destroy();
        server.destroy();
      });
    }
    if (!this.isHanging) client.pipe(server).pipe(client);
  }
}
