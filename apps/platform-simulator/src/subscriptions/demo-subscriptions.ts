import { setTimeout as delay } from 'node:timers/promises';
import { findEventType } from '@stream-events/platform-catalogue';
import type { SimulatedType } from '../world/lively-events.js';
import { createCondition } from './event-type.js';

/** Where the simulator is and where it shall send to. */
export interface DemoSubscriptions {
  /** Address of the simulator, like `http://127.0.0.1:8100`. */
  simulatorUrl: string;
  callback: string;
  /** 10 to 100 ASCII characters; signs every message. */
  secret: string;
}

const requestTimeoutMs = 5_000;
const enabledWithinMs = 30_000;
const pollEveryMs = 100;

// Each creation makes the simulator call back at once: a few side by side, so that the receiver is not flooded.
const maxConcurrent = 8;

/**
 * Subscribes a callback to everything that the simulator makes by itself, through its HTTP interface, and waits until
 * all of it is enabled. Existing subscriptions are adopted, whatever secret they were made with.
 *
 * @throws Error when a subscription is refused, or is not enabled within 30 s
 */
export async function subscribeDemo(demo: DemoSubscriptions): Promise<void> {
  const { broadcasters, event_types } = await readWorld(demo.simulatorUrl);
  const authorization = await authorize(demo.simulatorUrl);
  const wanted = broadcasters.flatMap(({ id }) => event_types.map((eventType) => ({ ...eventType, id })));
  const ids = new Set<string>();
  const subscribeNext = async (): Promise<void> => {
    for (let next = wanted.pop(); next; next = wanted.pop())
      ids.add(await subscribe({ ...demo, authorization }, next, next.id));
  };
  await Promise.all(Array.from({ length: maxConcurrent }, subscribeNext));
  await waitUntilEnabled({ ...demo, authorization }, ids);
}

type Headers = Record<string, string>;

/** The headers of a call of the platform's own interface. */
async function authorize(simulatorUrl: string): Promise<Headers> {
  const form = { client_id: 'demo', client_secret: 'demo', grant_type: 'client_credentials' };
  const response = await call(`${simulatorUrl}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  return { authorization: `Bearer ${access_token}`, 'client-id': form.client_id };
}

interface WorldView {
  broadcasters: { id: string }[];
  event_types: SimulatedType[];
}

async function readWorld(simulatorUrl: string): Promise<WorldView> {
  const response = await call(`${simulatorUrl}/simulator`);
  if (!response.ok)
    throw new Error(`GET ${simulatorUrl}/simulator answered ${response.status}: is it the simulator?`);
  return (await response.json()) as WorldView; // holds: the simulator of this very package answers
}

async function subscribe(
  demo: DemoSubscriptions & { authorization: Headers },
  type: SimulatedType,
  broadcasterId: string,
): Promise<string> {
  const { simulatorUrl, callback, secret, authorization } = demo;
  const response = await call(`${simulatorUrl}/helix/eventsub/subscriptions`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      type: type.type,
      version: type.version,
      condition: createCondition(findEventType(type.type, type.version), broadcasterId),
      transport: { method: 'webhook', callback, secret },
    }),
  });
  const reply = (await response.json()) as { data?: { id: string }[]; id?: string; message?: string };
  const id = response.status === 409 ? reply.id : reply.data?.[0]?.id;
  if (id !== undefined) return id;
  throw new Error(
    `subscribing ${callback} to ${type.type} was refused with ${response.status}: ${reply.message}`,
  );
}

async function waitUntilEnabled(
  { simulatorUrl, callback, authorization }: DemoSubscriptions & { authorization: Headers },
  ids: ReadonlySet<string>,
): Promise<void> {
  const deadline = Date.now() + enabledWithinMs;
  for (;;) {
    const data = await listAll(simulatorUrl, authorization);
    const waiting = data.filter(({ id, status }) => ids.has(id) && status !== 'enabled');
    if (waiting.length === 0) return;
    const failed =
      waiting.find(({ status }) => status !== 'webhook_callback_verification_pending') ?? waiting[0];
    const isOver = Date.now() > deadline || failed?.status !== 'webhook_callback_verification_pending';
    if (isOver) {
      throw new Error(
        `${waiting.length} of ${ids.size} subscriptions of ${callback} are not enabled (${failed?.type}: ` +
          `${failed?.status}): does the callback answer challenges and know the secret?`,
      );
    }
    await delay(pollEveryMs);
  }
}

async function listAll(
  simulatorUrl: string,
  headers: Headers,
): Promise<{ id: string; status: string; type: string }[]> {
  const all = [];
  for (let after = ''; ;) {
    const response = await call(`${simulatorUrl}/helix/eventsub/subscriptions?after=${after}`, { headers });
    const page = (await response.json()) as ListReply;
    all.push(...page.data);
    if (page.pagination.cursor === undefined) return all;
    after = page.pagination.cursor;
  }
}

interface ListReply {
  data: { id: string; status: string; type: string }[];
  pagination: { cursor?: string };
}

function call(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(requestTimeoutMs) });
}
