import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { EventRecord } from './event-stream.js';

interface Options {
  /** `http://127.0.0.1:8000` */
  server: string;
  token: string;
  /** The last position that is known. */
  after?: string;
  handle: (event: EventRecord, position: string | undefined) => void;
  signal: AbortSignal;
}

/** Hands on raids as they come, until the connection ends. In Chromium from 124 on, and in Firefox, it is the same. */
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
    if (event === 'gap') console.warn('events were missed:', data);
    else if (event === 'closed') console.warn('the service ends the connection:', data);
    else handle(JSON.parse(data) as EventRecord, id); // holds: messages without a type are records
  }
}
