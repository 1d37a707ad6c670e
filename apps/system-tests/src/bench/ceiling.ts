import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPool } from '@stream-events/database';
import { toRow, writeBatch, type EventRow } from '@stream-events/events/benchmark';
import { v7 as uuidV7 } from 'uuid';

// The raw ceiling: the most that Node and PostgreSQL can do on this machine. Plain node:http, the signature check, and the events service's
// SQL statement, without framework, NATS, limits, or retries. For comparison only; `startCeilingSubject` forks this module.

interface WaitingRow {
  row: EventRow;
  response: ServerResponse;
}

// The fastest of six measured variants: one, two, or three batches in flight, each with or without waiting for fuller batches. With two
// batches and no wait, one batch fills while the other is written.
const maxInFlight = 2;
const maxBatch = 256;

const [databaseUrl = '', secret = ''] = process.argv.slice(2);
const pool = createPool({
  url: databaseUrl,
  schema: 'events',
  applicationName: 'ceiling',
  poolSize: maxInFlight,
});
const waiting: WaitingRow[] = [];
let inFlight = 0;
let isPumpDue = false;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => receive(request, Buffer.concat(chunks), response));
});

server.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port); // Safe cast: the server listens on TCP
});

function receive({ headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const header = (name: string): string => String(headers[`twitch-eventsub-message-${name}`]);
  const hmac = createHmac('sha256', secret).update(header('id')).update(header('timestamp')).update(body);
  const expected = Buffer.from(`sha256=${hmac.digest('hex')}`);
  if (!timingSafeEqual(expected, Buffer.from(header('signature')))) {
    response.writeHead(403).end();
    return;
  }
  const text = body.toString();
  const { subscription } = JSON.parse(text) as { subscription: { type: string } }; // Safe cast: the load has signed the body
  waiting.push({
    row: toRow({
      id: uuidV7(),
      eventId: header('id'),
      eventType: subscription.type.replaceAll('.', '-'),
      eventSource: 'PlatformSub',
      origin: 'platform',
      eventData: text.slice(text.lastIndexOf('"event":') + 8, -1),
      idempotencyKey: null,
    }),
    response,
  });
  if (isPumpDue) return;
  isPumpDue = true;
  setImmediate(() => {
    isPumpDue = false;
    pump();
  });
}

function pump(): void {
  while (inFlight < maxInFlight && waiting.length > 0) {
    inFlight += 1;
    void write(waiting.splice(0, maxBatch));
  }
}

async function write(batch: WaitingRow[]): Promise<void> {
  const rows = batch.map(({ row }) => row).sort((a, b) => (a.key < b.key ? -1 : 1));
  await writeBatch(pool, rows);
  for (const { response } of batch) response.writeHead(204, { 'x-request-id': randomUUID() }).end();
  inFlight -= 1;
  pump();
}
