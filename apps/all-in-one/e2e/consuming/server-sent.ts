import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { EventRecord } from './event-record.js';

interface Options {
  /** `http://127.0.0.1:8000` */
  server: string;
  token: string;
  /** The last position that you received. */
  after?: string;
  handle: (event: EventRecord, position: string | undefined) => void;
  signal: AbortSignal;
}

/** Follows raids until the connection ends. Also runs in Firefox and in Chromium 124 and newer. */
export async function followServerSent({ server, token, after, handle, signal }: Options): Promise<void> {
  const response = await fetch(`${server}/api/v1/platform-events/stream?event_type=channel-raid`, {
    headers: { Authorization: `Token ${token}`, ...(after && { 'Last-Event-ID': after }) },
    signal,
  });
  if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
  const messages = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event, data, id } of messages) {
    if (event === 'gap') console.warn('missed events:', data);
    else if (event === 'closed') console.warn('the service closes the connection:', data);
    else handle(JSON.parse(data) as EventRecord, id); // messages without `event` are records
  }
}
