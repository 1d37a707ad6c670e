import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const secretFields = ['access_token', 'refresh_token', 'device_code'];

/** An HTTP proxy between the service and the platform. Records the secrets in requests and replies. */
export class RecordingProxy {
  readonly authorizations = new Set<string>();
  /** Secrets that the platform issued, with the reply field that contained each one. */
  readonly issued: { field: string; secret: string }[] = [];
  /** The proxy answers 404 for this path. */
  missingPath: string | undefined;
  /** The proxy removes this header (lowercase) from the platform's replies. */
  hiddenHeader = '';

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {
    server.on('request', (incoming, outgoing) => this.forward(incoming, outgoing));
  }

  static async start(target: string): Promise<RecordingProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new RecordingProxy(server, target);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`; // Safe cast: the server listens on TCP.
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, url = '/', headers } = incoming;
    if (headers.authorization !== undefined) this.authorizations.add(headers.authorization);
    if (new URL(url, this.target).pathname === this.missingPath) return void outgoing.writeHead(404).end();
    const forwarded = request(new URL(url, this.target), { method, headers }, (response) => {
      if (url.startsWith('/oauth2/')) this.record(response);
      const passed = Object.entries(response.headers).filter(([name]) => name !== this.hiddenHeader);
      outgoing.writeHead(response.statusCode ?? 502, Object.fromEntries(passed));
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  }
  private record(response: IncomingMessage): void {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      if (!body.startsWith('{')) return;
      const fields = JSON.parse(body) as Record<string, unknown>; // Safe cast: the body starts like an object.
      for (const field of secretFields) {
        const secret = fields[field];
        if (typeof secret === 'string') this.issued.push({ field, secret });
      }
    });
  }
}
