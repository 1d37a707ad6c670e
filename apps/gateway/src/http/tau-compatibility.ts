import type { IncomingMessage, Server } from 'node:http';
import { getStreamer, ServiceError } from '@stream-events/contracts';
import type { RequestClient } from '@stream-events/messaging';
import type { FastifyInstance } from 'fastify';
import { canonicalUrl, pathOf, platformCallRoute, queryOf } from './paths.js';
import { becomeProblem, toServiceError } from './problem.js';

/**
 * TAU_COMPATIBILITY: translates to the names and shapes that clients of TAU (github.com/Team-TAU/tau) expect. All translations are in this
 * file.
 *
 * ```
 * requests    query: origin=twitch                     ─▶ origin=platform
 *             query: event_source=EventSub             ─▶ event_source=PlatformSub
 *             /ws/irc-messages, /ws/chat-bots/<name>,
 *             /ws/tau-status                           ─▶ a live WebSocket that no event reaches
 *             GET …/replay                             ─▶ POST …/replay
 * responses   "origin":"platform"                      ─▶ "origin":"twitch"
 *             "event_source":"PlatformSub"             ─▶ "event_source":"EventSub"
 *             "platform_username", "platform_id"       ─▶ also "twitch_username", "twitch_id"
 *             GET /api/v1/streamers: […]               ─▶ {"results":[…]}
 *             GET …/streams/latest without a stream    ─▶ 200 {}
 * WebSocket   the records of plain WebSockets, as in responses
 * ```
 *
 * Requests can also use the names of this service. `event_data` never changes. Server-sent events, exports, WebSockets with positions, and
 * the EVENTS stream keep the names of this service, because TAU has none of them.
 */

/** Fields whose values differ: the value here, and the value in TAU. */
const values: ReadonlyMap<string, readonly [own: string, theirs: string]> = new Map([
  ['origin', ['platform', 'twitch']],
  ['event_source', ['PlatformSub', 'EventSub']],
]);

/** Fields that a response contains twice: the name here, and the additional name from TAU. */
const copiedFields: ReadonlyMap<string, string> = new Map([
  ['platform_username', 'twitch_username'],
  ['platform_id', 'twitch_id'],
]);

// TAU sends chat messages and its own status on these WebSockets. This service sends neither there, so the filter below matches no event.
const silentPath = /^\/ws\/(irc-messages|tau-status|chat-bots\/[^/]+)$/;
const silentUrl = '/ws/platform-events?until=1970-01-01T00%3A00%3A00Z';

const streamersPath = '/api/v1/streamers';
const replayPath = /^\/api\/v1\/platform-events\/[^/]+\/replay$/;
const latestStreamPath = '/api/v1/streamers/:id/streams/latest';

/** Translates the requests and responses of a gateway's HTTP server. */
export function translateForTau(fastify: FastifyInstance, client: RequestClient): void {
  translateUrls(fastify.server);
  fastify.addHook('onSend', async (request, reply, payload) => {
    const type = reply.getHeader('content-type');
    if (typeof type !== 'string' || !/^application\/(problem\+)?json\b/.test(type)) return payload;
    const text = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.toString() : undefined;
    if (text === undefined) return payload;
    const path = request.routeOptions.url;
    // Never translate the platform's own reply.
    if (path === platformCallRoute) return payload;
    if (path === latestStreamPath && reply.statusCode === 404) {
      try {
        if (!(await hasStreamer(request.params, client))) return payload;
      } catch (error) {
        return becomeProblem(reply, toServiceError(error));
      }
      reply.code(200).type('application/json; charset=utf-8');
      return '{}\n';
    }
    const translated = translateJson(text);
    const isList = path === streamersPath && request.method === 'GET' && reply.statusCode === 200;
    return isList ? `{"results":${translated.trimEnd()}}\n` : translated;
  });
}

/** Translates an event record to the names and values of TAU. */
export function translateRecord(record: Buffer): Buffer {
  return Buffer.from(translateJson(record.toString()));
}

function translateUrls(server: Server): void {
  for (const event of ['request', 'upgrade'] as const)
    server.prependListener(event, (request: IncomingMessage) => {
      const { method, url = '/' } = request;
      if (method === 'GET' && replayPath.test(pathOf(canonicalUrl(url)))) request.method = 'POST';
      request.url = translateUrl(url);
    });
}

function translateUrl(url: string): string {
  if (silentPath.test(pathOf(canonicalUrl(url)))) return silentUrl;
  const query = queryOf(url);
  let isTranslated = false;
  for (const [field, [own, theirs]] of values) {
    if (query.getAll(field).at(-1) !== theirs) continue;
    query.set(field, own);
    isTranslated = true;
  }
  return isTranslated ? `${pathOf(url)}?${query.toString()}` : url;
}

async function hasStreamer(parameters: unknown, client: RequestClient): Promise<boolean> {
  const { id } = parameters as { id: string }; // Safe cast: the path has this parameter
  try {
    await client.request(getStreamer, { id });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return false;
    throw error;
  }
}

/**
 * Translates all fields in a JSON text except those inside `event_data`. Works on the text, because parsing would change numbers and
 * escapes.
 */
function translateJson(text: string): string {
  let translated = '';
  let copiedTo = 0;
  let at = 0;
  while (at < text.length) {
    if (text[at] !== '"') {
      at += 1;
      continue;
    }
    const end = endOfString(text, at);
    const valueAt = startOfValue(text, end);
    if (valueAt === undefined) {
      at = end; // text in a value, not a field name
      continue;
    }
    const field = text.slice(at + 1, end - 1);
    if (field === 'event_data') {
      at = endOfValue(text, valueAt);
      continue;
    }
    const [own, theirs] = values.get(field) ?? [];
    const copy = copiedFields.get(field);
    if (own !== undefined && text.startsWith(`"${own}"`, valueAt)) {
      translated += `${text.slice(copiedTo, valueAt)}"${theirs}"`;
      copiedTo = valueAt + own.length + 2;
      at = copiedTo;
    } else if (copy !== undefined) {
      at = endOfValue(text, valueAt);
      translated += `${text.slice(copiedTo, at)},"${copy}":${text.slice(valueAt, at)}`;
      copiedTo = at;
    } else at = valueAt;
  }
  return translated + text.slice(copiedTo);
}

/** Returns the index after the JSON string that starts at `at`. */
function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  return text.length;
}

/** Returns the index of a field's value, if the text before `at` is a field name. Undefined if no colon follows. */
function startOfValue(text: string, at: number): number | undefined {
  const colon = skipSpace(text, at);
  return text[colon] === ':' ? skipSpace(text, colon + 1) : undefined;
}

function skipSpace(text: string, at: number): number {
  let index = at;
  while (/\s/.test(text[index] ?? '')) index += 1;
  return index;
}

/** Returns the index after the JSON value that starts at `at`. */
function endOfValue(text: string, at: number): number {
  let depth = 0;
  const delimiters = /["{}[\],]/g;
  delimiters.lastIndex = at;
  for (let found = delimiters.exec(text); found; found = delimiters.exec(text)) {
    const { 0: delimiter, index } = found;
    if (delimiter === '"') delimiters.lastIndex = endOfString(text, index);
    else if (delimiter === '{' || delimiter === '[') depth += 1;
    else if (delimiter === ',') {
      if (depth === 0) return index;
      continue;
    } else if (depth === 0) return index;
    else depth -= 1;
    if (depth === 0) return delimiters.lastIndex;
  }
  return text.length;
}
