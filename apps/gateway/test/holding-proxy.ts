import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A proxy that can hold back a server's responses. */
export class HoldingProxy {
  private readonly pairs = new Set<[client: Socket, server: Socket]>();

  private constructor(
    private readonly server: Server,
    /** URL of the server through the proxy. */
    readonly url: string,
  ) {}

  static async start(target: string): Promise<HoldingProxy> {
    const url = new URL(target);
    const { hostname, port } = url;
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as AddressInfo).port); // Safe cast: a TCP server's address is an AddressInfo.
    const proxy = new HoldingProxy(server, url.href);
    server.on('connection', (client) => proxy.join(client, connect(Number(port), hostname)));
    return proxy;
  }

  /** Holds back everything that the server sends from now on over the open connections. */
  hold(): void {
    for (const [client, server] of this.pairs) server.unpipe(client);
  }

  /** Forwards the held data and everything after it. */
  release(): void {
    for (const [client, server] of this.pairs) server.pipe(client);
  }

  stop(): void {
    this.server.close();
    for (const pair of this.pairs) for (const socket of pair) socket.destroy();
  }

  private join(client: Socket, server: Socket): void {
    this.pairs.add([client, server]);
    for (const socket of [client, server]) socket.on('error', () => undefined); // the other end sees the connection close
    client.pipe(server);
    server.pipe(client);
  }
}
