import { WebSocket } from 'ws';
import type { EventRecord } from './event-record.js';

interface Options {
  /** `ws://127.0.0.1:8000` */
  server: string;
  token: string;
  handle: (event: EventRecord) => void;
  signal: AbortSignal;
}

/** Follows raids until the signal aborts. Reconnects when the connection breaks, and receives the missed events. */
export function followWebSocket({ server, token, handle, signal }: Options): void {
  let after: string | undefined; // save it in a file to resume after a restart too

  const connect = (): void => {
    if (signal.aborted) return;
    const socket = new WebSocket(`${server}/ws/platform-events/`);
    const leave = (): void => socket.close();
    signal.addEventListener('abort', leave);
    socket.on('open', () => {
      socket.send(JSON.stringify({ token, event_type: ['channel-raid'], positions: true, after }));
    });
    socket.on('message', (data: Buffer) => {
      // with positions, every message is an event or one of these controls
      const message = JSON.parse(data.toString()) as Partial<EventRecord> & Control;
      if (message.event === 'gap') console.warn('missed events:', message.reason);
      else if (message.event === undefined) handle(message as EventRecord); // only events lack `event`
      after = message.position ?? after;
    });
    socket.on('close', (code, reason) => {
      signal.removeEventListener('abort', leave);
      if (code === 4400 || code === 4401) console.error('refused:', reason.toString());
      else setTimeout(connect, 1_000 + Math.random() * 1_000);
    });
    socket.on('error', () => undefined); // `close` follows
  };
  connect();
}

interface Control {
  event?: 'ready' | 'gap' | 'keep_alive';
  reason?: string;
  position?: string;
}
