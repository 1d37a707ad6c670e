import { EventEmitter, on, once } from 'node:events';
import { WebSocket } from 'ws';

/** A frame from the platform's socket server. */
export interface Frame {
  metadata: {
    message_id: string;
    message_type: string;
    message_timestamp: string;
    subscription_type?: string;
    subscription_version?: string;
  };
  payload: {
    session?: {
      id: string;
      status: string;
      keepalive_timeout_seconds: number | null;
      reconnect_url: string | null;
      connected_at: string;
    };
    subscription?: { id: string; type: string; status: string; transport: Record<string, unknown> };
    event?: Record<string, unknown>;
  };
}

/** A socket client that records every frame. */
export class SocketClient {
  readonly frames: Frame[] = [];
  private readonly arrivals = new EventEmitter();
  /** Close code and text. */
  readonly closed: Promise<[code: number, text: string]>;

  private constructor(readonly socket: WebSocket) {
    this.arrivals.setMaxListeners(0);
    socket.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()) as Frame);
      this.arrivals.emit('arrival');
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, text) => resolve([code, text.toString()]));
    });
  }

  /** Does not wait for the welcome. @param url an address such as `http://127.0.0.1:8100/ws` */
  static async open(
    url: string,
    options: { autoPong?: boolean; origin?: string } = {},
  ): Promise<SocketClient> {
    const client = new SocketClient(new WebSocket(url.replace(/^http/, 'ws'), options));
    await once(client.socket, 'open');
    return client;
  }

  /** Resolves after the welcome. */
  static async connect(simulatorUrl: string, query = ''): Promise<SocketClient> {
    const client = await SocketClient.open(`${simulatorUrl}/ws${query}`);
    await client.waitFor('session_welcome');
    return client;
  }

  /** Session id from the last welcome. */
  get sessionId(): string {
    const welcome = this.frames.findLast(({ metadata }) => metadata.message_type === 'session_welcome');
    return welcome?.payload.session?.id ?? '';
  }

  of(messageType: string): Frame[] {
    return this.frames.filter(({ metadata }) => metadata.message_type === messageType);
  }

  /** Waits for `count` frames of a type, and returns the last one. */
  async waitFor(messageType: string, count = 1): Promise<Frame> {
    const arrivals = on(this.arrivals, 'arrival', { signal: AbortSignal.timeout(40_000) });
    for (;;) {
      const frame = this.of(messageType)[count - 1];
      if (frame) {
        await arrivals.return?.();
        return frame;
      }
      await arrivals.next();
    }
  }

  close(): void {
    this.socket.close();
  }
}
