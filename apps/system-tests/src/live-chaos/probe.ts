import { isJsonObject } from '@stream-events/contracts';
import { waitFor } from '../measure/progress.js';
import { WebSocketClient, type Ending } from '../fleet/web-socket.js';

const limitMs = 15_000;

/** A connection that records all messages. */
export class Probe {
  readonly messages: Record<string, unknown>[] = [];
  private ending: Ending | undefined;
  private readonly socket: WebSocketClient;

  constructor(port: number, firstMessage: Record<string, unknown>) {
    this.socket = new WebSocketClient(
      { port, path: '/ws/platform-events/', firstMessage: JSON.stringify(firstMessage) },
      {
        onText: (bytes, start, end) => {
          const message: unknown = JSON.parse(bytes.toString('utf8', start, end));
          if (isJsonObject(message)) this.messages.push(message);
        },
        onEnd: (ending) => (this.ending = ending),
      },
    );
  }

  /** The messages in words: `gap expired`, `ready`, `event`. */
  get story(): string[] {
    const words = this.messages.map(({ event, reason, id }) => {
      if (id !== undefined) return 'event';
      return event === 'gap' ? `gap ${String(reason)}` : String(event);
    });
    return this.ending ? [...words, JSON.stringify(this.ending)] : words;
  }

  /** Resolves after `count` messages, when the connection ends, or after 15 s. */
  async waitFor(count: number): Promise<void> {
    await waitFor(() => (this.messages.length >= count || this.ending ? true : undefined), {
      limitMs,
      everyMs: 20,
    });
  }

  close(): void {
    this.socket.close();
  }
}
