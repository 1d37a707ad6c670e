import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** A message with a valid signature. */
export interface ReceivedWebhook {
  path: string | undefined;
  /** The `webhook-id`. */
  id: string;
  body: { type: string; data: Record<string, unknown> };
}

/** An HTTP server that receives Standard Webhooks messages. Responds to an invalid signature with 401. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  /** Statuses for the next messages, in order. With an empty list, the receiver responds with 204. */
  statuses: number[] = [];

  private constructor(
    private readonly server: Server,
    private readonly secret: string,
  ) {}

  static async start(secret: string): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server, secret);
    server.on('request', (request, response) => {
      receiver.take(request).then(
        () => response.writeHead(receiver.statuses.shift() ?? 204, { location: '/elsewhere' }).end(),
        // Invalid signature.
        () => response.writeHead(401).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/alerts`; // Safe cast: the server listens on TCP.
  }

  /** Message types in order of arrival. */
  get types(): string[] {
    return this.received.map(({ body }) => body.type);
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async take(request: IncomingMessage): Promise<void> {
    const body = await text(request);
    const headers = request.headers as Record<string, string>; // Safe cast: none of these headers is repeated.
    new Webhook(this.secret).verify(body, headers);
    this.received.push({
      path: request.url,
      id: headers['webhook-id'] ?? '',
      body: JSON.parse(body) as ReceivedWebhook['body'], // Safe cast: the tests compare the body.
    });
  }
}
