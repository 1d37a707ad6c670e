import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { errorCatalogue, ingestStreamName, ingestSubject, isJsonObject } from '@stream-events/contracts';
import { connectNats, parseRequest } from '@stream-events/messaging';
import { headers, TimeoutError, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import { waitFor } from '../../measure/progress.js';
import { runSql } from '../../system/servers.js';
import type { FuzzBed } from '../fuzz-bed.js';
import { contracts, ingestSeeds, requestSeeds, requestWords } from '../nats-payloads.js';
import type { Random } from '../random.js';
import { overloaded, type WireTarget } from './wire-target.js';

// Time limit for a reply. Shorter than `hangMs` in fuzz-wire.ts, so that the error names the subject.
const replyMs = 14_000;
// If the number of messages does not shrink for this long, the stream is stuck. The last retry of a message starts after 5 s, and each dead
// letter needs its own transaction of about 2 ms.
const stuckMs = 30_000;

/** Sends requests on every contract's subject, with the gateway's permissions. */
export async function requestWireTarget({ servers }: FuzzBed): Promise<WireTarget> {
  const connection = await connectNats({ urls: [servers.nats.urlFor('gateway')], name: 'fuzzing' });
  return {
    name: 'NATS requests',
    description: `payloads on the subjects of all ${contracts.length} requests between services, with and without a valid envelope; each gets a reply or a typed error`,
    concurrency: 32,
    seeds: requestSeeds,
    words: requestWords,
    send: (input, random) => request(connection, input, random),
    close: () => connection.close(),
  };
}

async function request(connection: NatsConnection, input: Buffer, random: Random): Promise<string> {
  const { subject, rawRequest } = pickContract(input, random);
  const isEnveloped = !rawRequest && random.chance(0.8);
  const payload = isEnveloped
    ? Buffer.concat([Buffer.from('{"id":"1","data":'), input, Buffer.from('}')])
    : input;
  try {
    const reply = await connection.request(subject, payload, { timeout: replyMs, ...withHeaders(random) });
    return judgeReply(subject, reply);
  } catch (error) {
    if (error instanceof TimeoutError) throw new Error(`no reply to ${subject}`, { cause: error });
    throw error;
  }
}

/** Prefers a contract that accepts the input, so that many inputs reach a service. */
function pickContract(input: Buffer, random: Random): (typeof contracts)[number] {
  const candidates = Array.from({ length: 6 }, () => random.pick(contracts));
  return candidates.find((contract) => isAccepted(contract, input)) ?? random.pick(candidates);
}

function isAccepted(contract: (typeof contracts)[number], input: Buffer): boolean {
  try {
    parseRequest(contract, contract.rawRequest ? input : JSON.parse(input.toString()));
    return true;
  } catch {
    return false;
  }
}

function withHeaders(random: Random): { headers?: MsgHdrs } {
  if (random.chance(0.5)) return {};
  const added = headers();
  added.set(random.pick(['X-Request-Id', 'Raw']), random.pick(['1', '', 'x'.repeat(5_000), 'ü\0']));
  return { headers: added };
}

function judgeReply(subject: string, reply: Msg): string {
  if (reply.headers?.has('Raw')) return 'reply';
  const body: unknown = reply.json();
  const error = isJsonObject(body) ? body.err : undefined;
  if (error === undefined || error === null) return 'reply';
  const code = isJsonObject(error) ? error.code : undefined;
  if (code === 'unavailable') return overloaded;
  if (typeof code !== 'string' || !Object.hasOwn(errorCatalogue, code) || code === 'internal')
    throw new Error(`${subject} replied ${reply.string().slice(0, 500)}`);
  return code;
}

/** Publishes messages to the INGEST stream. At the end, each must be an event or a dead letter, and the stream must be empty. */
export async function ingestWireTarget({ servers, databaseUrl }: FuzzBed): Promise<WireTarget> {
  const connection = await connectNats({ urls: [servers.nats.urlFor('gateway')], name: 'fuzzing' });
  const drain = await connectNats({ urls: [servers.nats.urlFor('events')], name: 'fuzzing' });
  const publisher = jetstream(connection);
  const manager = await jetstreamManager(drain, { checkAPI: false });
  const count = async (): Promise<number> => (await manager.streams.info(ingestStreamName)).state.messages;
  return {
    name: 'INGEST messages',
    description:
      'messages on the INGEST stream; at the end, all messages must be events or dead letters, and the stream must be empty',
    concurrency: 64,
    seeds: ingestSeeds,
    words: [
      'id',
      'eventId',
      'eventType',
      'eventSource',
      'origin',
      'eventData',
      'idempotencyKey',
      'occurredAt',
    ],
    send: async (input) => {
      await publisher.publish(ingestSubject, input);
      return 'published';
    },
    finish: async () => {
      const left = await drainWhileShrinking(count);
      const [row] = await runSql<{ letters: string }>(
        databaseUrl,
        `SELECT count(*) AS letters FROM events.dead_letters`,
      );
      return [
        ...(left === 0 ? [] : [`${left} messages stay on the stream`]),
        ...(Number(row?.letters) > 0 ? [] : ['there are no dead letters']),
      ];
    },
    close: async () => {
      await connection.close();
      await drain.close();
    },
  };
}

/** Waits until the stream is empty or stops shrinking. Returns the number of remaining messages. */
async function drainWhileShrinking(count: () => Promise<number>): Promise<number> {
  let left = await count();
  for (;;) {
    const before = left;
    const look = async (): Promise<number | undefined> => {
      left = await count();
      return left < before ? left : undefined;
    };
    const isShrinking = left > 0 && (await waitFor(look, { limitMs: stuckMs, everyMs: 500 })) !== undefined;
    if (!isShrinking) return left;
  }
}
