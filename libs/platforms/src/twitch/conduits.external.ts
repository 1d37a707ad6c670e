import { isJsonObject, type JsonObject, type JsonObjectText } from '@stream-events/contracts';
import type {
  DisabledShard,
  PlatformConduit,
  PlatformShard,
  PlatformShardPage,
} from '../outbound-platform.js';
import { malformed } from '../platform-call-error.js';
import { readCount, readObject, readObjects, readOptionalText, readText } from '../reply-fields.js';

const shardIdPattern = /^\d{1,5}$/;

/** Reads the conduit from the reply to `POST` or `PATCH eventsub/conduits` (FACTS.md §3). */
export function readConduit(body: unknown): PlatformConduit {
  const [conduit] = readConduits(body);
  if (!conduit) throw malformed('`data` contains no conduit');
  return conduit;
}

/** Reads the reply to `GET eventsub/conduits`. The list has no pages, because an application has at most five conduits. */
export function readConduits(body: unknown): PlatformConduit[] {
  return readObjects(readObject(body, 'the reply about conduits'), 'data').map((conduit) => ({
    id: readText(conduit, 'id'),
    shardCount: readCount(conduit, 'shard_count'),
  }));
}

/** Reads one page of `GET eventsub/conduits/shards`. */
export function readShardPage(body: unknown): PlatformShardPage {
  const page = readObject(body, 'the list of shards');
  const cursor = isJsonObject(page.pagination) ? readOptionalText(page.pagination, 'cursor') : '';
  return { shards: readObjects(page, 'data').map(readShard), next: cursor || null };
}

function readShard(shard: JsonObject): PlatformShard {
  const transport = isJsonObject(shard.transport) ? shard.transport : {};
  return {
    id: readShardId(shard, 'id'),
    status: readText(shard, 'status'),
    sessionId: readOptionalText(transport, 'session_id') || null,
  };
}

function readShardId(fields: JsonObject, name: string): number {
  const text = readText(fields, name);
  if (!shardIdPattern.test(text)) throw malformed(`${name} is not the id of a shard`);
  return Number(text);
}

/** Returns the body of `PATCH eventsub/conduits/shards` that assigns one shard to a session. */
export function toShardBody(conduitId: string, shardId: number, sessionId: string): string {
  const transport = { method: 'websocket', session_id: sessionId };
  return JSON.stringify({ conduit_id: conduitId, shards: [{ id: String(shardId), transport }] });
}

/** Returns why the platform did not assign the shard, or null when it did. */
export function readShardRefusal(body: unknown): string | null {
  const { errors } = readObject(body, 'the reply about a shard');
  if (!Array.isArray(errors) || errors.length === 0) return null;
  const [first] = errors as unknown[];
  return (isJsonObject(first) && readOptionalText(first, 'message')) || 'The platform gave no reason.';
}

/**
 * Reads the report about a lost shard in a message. Returns undefined when the message is about something else. Runs for every message of a
 * socket.
 */
export function readDisabledShard({ value }: JsonObjectText): DisabledShard | undefined {
  const { subscription, event } = value;
  if (!isJsonObject(subscription) || subscription.type !== 'conduit.shard.disabled') return undefined;
  const id = isJsonObject(event) ? readOptionalText(event, 'shard_id') : '';
  if (!isJsonObject(event) || !shardIdPattern.test(id)) return undefined;
  const transport = isJsonObject(event.transport) ? event.transport : {};
  return {
    conduitId: readOptionalText(event, 'conduit_id'),
    id: Number(id),
    status: readOptionalText(event, 'status'),
    sessionId: readOptionalText(transport, 'session_id') || null,
  };
}
