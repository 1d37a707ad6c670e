import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';

/** Sends each connection to the next target that accepts it. */
export class LoadBalancer {
  private targets: readonly string[] = [];
  private next = 0;
  private readonly closers = new Set<() => void>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<LoadBalancer> {
    const server = createServer();
    const balancer = new LoadBalancer(server);
    server.on('connection', (client) => {
      const close = (): void => void client.destroy();
      balancer.closers.add(close);
      client.on('error', close).on('close', () => balancer.closers.delete(close));
      balancer.join(client, balancer.targets.length);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`; // Safe cast: the server listens on TCP.
  }

  /** Sets the targets, and closes all open connections so that the clients reconnect to them. */
  use(urls: readonly string[]): void {
    this.targets = urls;
    for (const close of this.closers) close();
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const close of this.closers) close();
    await closed;
  }

  private join(client: ReturnType<typeof connect>, attempts: number): void {
    this.next += 1;
    const target = this.targets[this.next % this.targets.length];
    if (target === undefined || attempts === 0) return void client.destroy();
    const { hostname, port } = new URL(target);
    const server = connect(Number(port), hostname);
    let isConnected = false;
    server.on('connect', () => {
      isConnected = true;
      client.pipe(server).pipe(client);
    });
    server.on('error', () => (isConnected ? client.destroy() : this.join(client, attempts - 1)));
    server.on('close', () => isConnected && client.destroy());
    client.on('close', () => server.destroy());
  }
}
