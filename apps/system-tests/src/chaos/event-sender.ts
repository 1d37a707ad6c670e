import { createHmac } from 'node:crypto';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Credentials } from '../load/request-maker.js';
import type { Answer, SentEvent } from './ledger.js';

// Time limit for a response. A gateway tries a batch twice, for 2 s each. The platform also gives up after a few seconds.
const answerLimitMs = 5_000;

const path = '/api/v1/platform-events';

interface Message {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Connections per gateway, and whether they stay open between requests. */
export interface ConnectionOptions {
  connectionsEach: number;
  keepAlive: boolean;
}

/** Sends events to the gateways, as a client would. */
export class EventSender {
  private readonly agent: Agent;

  constructor(
    private readonly credentials: Credentials,
    { connectionsEach, keepAlive }: ConnectionOptions,
  ) {
    this.agent = new Agent({ keepAlive, maxSockets: connectionsEach });
  }

  /** @param attempt counts from 0; every attempt sends the same event */
  async send(event: SentEvent, gatewayUrl: string, attempt = 0): Promise<Answer> {
    const message = this.makeMessage(event, attempt);
    return new Promise((resolve) => {
      const outgoing = request(gatewayUrl + message.path, {
        method: 'POST',
        agent: this.agent,
        headers: { ...message.headers, 'content-length': Buffer.byteLength(message.body) },
      });
      let isTooLate = false;
      const timer = setTimeout(() => {
        isTooLate = true;
        outgoing.destroy();
      }, answerLimitMs);
      const settle = (answer: Answer): void => {
        clearTimeout(timer);
        resolve(isTooLate ? { kind: 'timeout' } : answer);
      };
      outgoing.once('error', (error) => settle(explainFailure(error, outgoing)));
      outgoing.once('response', (response) => readAnswer(response, settle));
      outgoing.end(message.body);
    });
  }

  close(): void {
    this.agent.destroy();
  }

  private makeMessage(event: SentEvent, attempt: number): Message {
    if (event.kind === 'notification') return this.makeNotification(event, attempt);
    return event.kind === 'test event' ? this.makeTestPost(event) : this.makePost(event);
  }

  private makeTestPost({ marker, eventType, eventData }: SentEvent): Message {
    return {
      path: `${path}/${encodeURIComponent(eventType)}/test`,
      headers: {
        'content-type': 'application/json',
        authorization: `Token ${this.credentials.token}`,
        'idempotency-key': marker,
      },
      body: eventData,
    };
  }

  private makePost({ kind, marker, eventType, eventData }: SentEvent): Message {
    return {
      path,
      headers: {
        'content-type': 'application/json',
        authorization: `Token ${this.credentials.token}`,
        ...(kind === 'keyed post' && { 'idempotency-key': marker }),
      },
      body: `{"event_type":${JSON.stringify(eventType)},"event_source":"chaos","event_data":${eventData}}`,
    };
  }

  private makeNotification({ marker, eventType, eventData }: SentEvent, attempt: number): Message {
    const type = eventType.replaceAll('-', '.');
    const body = `{"subscription":{"id":"chaos","type":${JSON.stringify(type)},"version":"1"},"event":${eventData}}`;
    const timestamp = new Date().toISOString();
    const hmac = createHmac('sha256', this.credentials.webhookSecret).update(marker + timestamp + body);
    return {
      path: `${path}/webhook`,
      headers: {
        'content-type': 'application/json',
        'twitch-eventsub-message-id': marker,
        'twitch-eventsub-message-retry': String(attempt),
        'twitch-eventsub-message-type': 'notification',
        'twitch-eventsub-message-timestamp': timestamp,
        'twitch-eventsub-message-signature': `sha256=${hmac.digest('hex')}`,
      },
      body,
    };
  }
}

function readAnswer(response: IncomingMessage, settle: (answer: Answer) => void): void {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.once('error', () => settle({ kind: 'broken' }));
  response.once('end', () => {
    const status = response.statusCode ?? 0;
    // Test events get a 200 response. Their records have no id to compare.
    if (status === 204 || status === 200) settle({ kind: 'accepted', id: undefined });
    else if (status === 201) settle({ kind: 'accepted', id: readId(Buffer.concat(chunks).toString()) });
    else if (status >= 400 && status < 500) settle({ kind: 'refused', status });
    else settle({ kind: 'unavailable', status });
  });
}

/** Reads the id from a record. Returns `none` if the response is not a record; the checker reports that as a wrong id. */
function readId(body: string): string {
  return /^\{"id":"([\w-]+)"/.exec(body)?.[1] ?? 'none';
}

function explainFailure(error: NodeJS.ErrnoException, outgoing: ClientRequest): Answer {
  if (error.code === 'ECONNREFUSED') return { kind: 'not connected' };
  return { kind: outgoing.reusedSocket ? 'stale' : 'broken' };
}
