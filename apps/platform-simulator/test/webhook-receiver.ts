import { createHmac } from 'node:crypto';
import { EventEmitter, on } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  json: {
    challenge?: string;
    subscription: { id: string; type: string; status: string; condition: Record<string, string> };
    event?: Record<string, unknown>;
  };
  /** The correct signature, computed independently of the simulator. */
  rightSignature: string;
}

export interface Answer {
  status: number;
  body?: string;
  headers?: Record<string, string>;
}

/** A callback for tests. Records all requests, and answers challenges unless a test sets other responses. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  url = '';
  /** Replace it to script the responses. */
  answer: (received: Received) => Answer | Promise<Answer> = answerChallenge;
  private readonly arrivals = new EventEmitter();
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const received = describeRequest(
        request.url ?? '',
        request.headers,
        Buffer.concat(chunks),
        this.secret,
      );
      this.received.push(received);
      this.arrivals.emit('arrival');
      void Promise.resolve(this.answer(received)).then(({ status, body, headers }) => {
        response.writeHead(status, headers).end(body);
      });
    });
  });

  private constructor(private readonly secret: string) {
    this.arrivals.setMaxListeners(0);
  }

  static async start(secret: string): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(secret);
    // With Node's default of 5 s, the receiver could close an idle connection just as a stalled simulator sends a request over it.
    receiver.server.keepAliveTimeout = 120_000;
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    receiver.url = `http://127.0.0.1:${(receiver.server.address() as AddressInfo).port}/webhook`;
    return receiver;
  }

  /** Waits for `count` matching requests. */
  async waitFor(count: number, isWanted: (received: Received) => boolean): Promise<Received[]> {
    const signal = AbortSignal.timeout(40_000);
    const arrivals = on(this.arrivals, 'arrival', { signal });
    for (;;) {
      const found = this.received.filter(isWanted);
      if (found.length >= count) {
        await arrivals.return?.();
        return found.slice(0, count);
      }
      await arrivals.next();
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

/** Accepts every message and echoes challenges. */
export function answerChallenge({ json }: Received): Answer {
  return json.challenge === undefined ? { status: 204 } : { status: 200, body: json.challenge };
}

export function isNotification({ headers }: Received): boolean {
  return headers['twitch-eventsub-message-type'] === 'notification';
}

export function signatureOf({ headers }: Received): string | undefined {
  const signature = headers['twitch-eventsub-message-signature'];
  return typeof signature === 'string' ? signature : undefined;
}

function describeRequest(
  path: string,
  headers: IncomingHttpHeaders,
  bytes: Buffer,
  secret: string,
): Received {
  const hmac = createHmac('sha256', Buffer.from(secret, 'ascii'));
  const id = String(headers['twitch-eventsub-message-id']);
  const timestamp = String(headers['twitch-eventsub-message-timestamp']);
  hmac.update(Buffer.concat([Buffer.from(id), Buffer.from(timestamp), bytes]));
  const body = bytes.toString('utf8');
  return {
    path,
    headers,
    body,
    json: JSON.parse(body) as Received['json'],
    rightSignature: `sha256=${hmac.digest('hex')}`,
  };
}
