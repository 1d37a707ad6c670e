import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A call that asked the platform which of these users are live. */
export interface LookUp {
  /** Milliseconds since 1970. */
  at: number;
  userIds: readonly string[];
}

const lookUpLine = /GET \/helix\/streams\?(\S*) HTTP\/1\.1$/;
const statuses = /HTTP\/1\.1 (\d{3})(?: |$)/;

/**
 * A TCP proxy between connectors and platform. Forwards all bytes unchanged. Records the users in each look-up and the status of each
 * response, independently of the service's metrics.
 */
export class PlatformTap {
  readonly lookUps: LookUp[] = [];
  /** Responses by status. */
  readonly statuses = new Map<number, number>();
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** Listens on its own port. */
  static async start(platformUrl: string): Promise<PlatformTap> {
    const { hostname, port } = new URL(platformUrl);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address() as AddressInfo; // Safe cast: the server listens on TCP
    const tap = new PlatformTap(server, `http://127.0.0.1:${address.port}`);
    server.on('connection', (client) => tap.join(client, connect(Number(port), hostname)));
    return tap;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private join(client: Socket, platform: Socket): void {
    for (const [socket, other] of [
      [client, platform],
      [platform, client],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => undefined); // the `close` event follows
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    readLines(client, (line) => this.noteRequest(line));
    readLines(platform, (line) => this.noteAnswer(line));
  }

  private noteRequest(line: string): void {
    const query = lookUpLine.exec(line)?.[1];
    if (query === undefined) return;
    this.lookUps.push({ at: Date.now(), userIds: new URLSearchParams(query).getAll('user_id') });
  }

  private noteAnswer(line: string): void {
    const status = Number(statuses.exec(line)?.[1] ?? 0);
    if (status > 0) this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}

/** Splits the bytes into lines. Patterns must also match within a line, because the next head follows a body without a line break. */
function readLines(socket: Socket, onLine: (line: string) => void): void {
  let rest = '';
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}
