import { closeCodes } from './close-codes.js';
import { Loss, parseObject, type LiveConnection, type LiveMessage } from './live-connection.js';

/** The parts of a WebSocket that the client uses. Implementations differ in their event types. */
export interface WebSocketLike {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(): void;
}

/** What the client needs to open a WebSocket and authenticate. */
export interface WebSocketRequest {
  WebSocket: new (url: string) => WebSocketLike;
  url: string;
  token: string;
  /** Milliseconds without data after which the client treats the connection as dead. */
  silenceMs: number;
}

// Maximum size of unread messages, in UTF-16 code units. A WebSocket has no backpressure, so unread messages wait in memory. At a thousand
// events per second, this is about 30 s of events.
const maxWaitingLength = 32 * 1024 ** 2;

// If the handshake took longer than this and the service rejects the token, the client retries. The service waits only 10 s for the token,
// and a page that was suspended during the handshake sends it too late.
const lateMs = 5_000;

// Browsers report these codes when a connection ends without a code from the service (RFC 6455 §7.4.1).
const lostCodes = [1005, 1006];

/** A live WebSocket that requests positions and keep-alives. */
export class WebSocketStream implements LiveConnection {
  private socket: WebSocketLike | undefined;
  private readonly texts: string[] = [];
  private waitingLength = 0;
  private end: LiveMessage | Loss | undefined;
  private wake: (() => void) | undefined;

  private readonly ending = new AbortController();

  constructor(
    private readonly request: WebSocketRequest,
    outerSignal: AbortSignal,
  ) {
    outerSignal.addEventListener('abort', () => this.close(), { signal: this.ending.signal });
  }

  /** Starts to connect. The service does not reply to the token, so only `read` shows whether the token is valid. */
  open(after: string | undefined): Promise<undefined> {
    const { WebSocket, url, token } = this.request;
    const startedAt = performance.now();
    let isLate = false;
    const socket = new WebSocket(url);
    this.socket = socket;
    socket.onopen = () => {
      isLate = performance.now() - startedAt > lateMs;
      socket.send(JSON.stringify({ token, positions: true, keep_alive: true, after }));
    };
    socket.onmessage = ({ data }: { data: unknown }) => {
      isLate = false; // the service has accepted the token
      this.receive(String(data));
    };
    socket.onclose = ({ code, reason }: Closing) =>
      this.finish(
        isLate && code === closeCodes.unauthenticated
          ? new Loss(new Error('The token was sent too late'))
          : describeClosing({ code, reason }),
      );
    // `close` follows every failure, so ignore `error`. Some implementations throw if it has no listener.
    socket.onerror = () => undefined;
    return Promise.resolve(undefined);
  }

  async read(): Promise<LiveMessage | Loss> {
    for (;;) {
      const text = this.texts.shift();
      if (text !== undefined) {
        this.waitingLength -= text.length;
        return readMessage(text);
      }
      if (this.end) return this.end;
      await this.untilChanged();
    }
  }

  close(): void {
    this.finish(new Loss(new Error('The client closed the connection')));
  }

  private receive(text: string): void {
    this.texts.push(text);
    this.waitingLength += text.length;
    // The next connection resumes after the last message that was read, so nothing is lost.
    if (this.waitingLength > maxWaitingLength)
      this.finish(new Loss(new Error('The client reads more slowly than events arrive')));
    this.wake?.();
  }

  private finish(end: LiveMessage | Loss): void {
    this.end ??= end;
    this.ending.abort();
    this.socket?.close();
    this.wake?.();
  }

  /** Waits for a message or the end. Ends a connection that stays silent. */
  private untilChanged(): Promise<void> {
    const { silenceMs } = this.request;
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.finish(new Loss(new Error(`The connection was silent for ${silenceMs} ms`))),
        silenceMs,
      );
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

interface Closing {
  code: number;
  reason: string;
}

function describeClosing(closing: Closing): LiveMessage | Loss {
  if (lostCodes.includes(closing.code)) return new Loss(new Error('The connection was lost'));
  return { kind: 'closed', position: undefined, content: { ...closing } };
}

function readMessage(text: string): LiveMessage | Loss {
  const parsed = parseObject(text);
  if (parsed instanceof Loss) return parsed;
  // An event record has no field `event`; every other message has one.
  const { position, event = 'message', ...content } = parsed;
  return {
    kind: String(event),
    position: typeof position === 'string' ? position : undefined,
    content,
  };
}
