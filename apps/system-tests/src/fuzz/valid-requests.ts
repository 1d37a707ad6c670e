import { randomUUID } from 'node:crypto';
import { Random } from './random.js';
import type { FuzzBed } from './fuzz-bed.js';
import { webhookSeeds } from './webhook-messages.js';
import { webhookWireTarget } from './wire/http-targets.js';

// Time limit for a valid request to succeed. After overload, a service needs seconds to empty its queue.
const limitMs = 15_000;

/** Sends valid requests to every service. Returns those that fail, with the reasons. */
export async function checkSystemWorks(bed: FuzzBed): Promise<string[]> {
  const checks: Record<string, () => Promise<string | undefined>> = {
    'adding an event': () => addAndList(bed),
    'a platform message': () => sendMessage(bed),
    'the streamers': () => expectStatus(bed, '/api/v1/streamers'),
    'the status of the platform': () => expectStatus(bed, '/api/v1/platform/status'),
    'the dead letters': () => expectStatus(bed, '/api/v1/dead-letters?page_size=5'),
    'the users': () => expectStatus(bed, '/api/v1/users/me'),
  };
  const results = Object.entries(checks).map(async ([name, check]) => {
    const fault = await check().catch((error: unknown) => String(error));
    return fault === undefined ? [] : [`${name} does not work any more: ${fault}`];
  });
  return (await Promise.all(results)).flat();
}

async function addAndList(bed: FuzzBed): Promise<string | undefined> {
  const event = { event_type: `works-${randomUUID()}`, event_source: 'fuzzing', event_data: {} };
  const added = await request(bed, '/api/v1/platform-events', {
    method: 'POST',
    body: JSON.stringify(event),
  });
  if (added.status !== 201) return `status ${added.status}: ${await added.text()}`;
  const list = await request(bed, `/api/v1/platform-events?event_type=${event.event_type}`);
  return (await list.text()).includes(event.event_type) ? undefined : 'the event is not in the list';
}

async function sendMessage(bed: FuzzBed): Promise<string | undefined> {
  const target = webhookWireTarget(bed);
  const outcome = await target.send(Buffer.from(webhookSeeds[0] ?? ''), new Random('valid'));
  await target.close?.();
  return outcome === '204' ? undefined : `status ${outcome}`;
}

async function expectStatus(bed: FuzzBed, path: string): Promise<string | undefined> {
  const { status } = await request(bed, path);
  return status === 200 ? undefined : `${path}: status ${status}`;
}

function request({ url, system }: FuzzBed, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url + path, {
    ...init,
    headers: { authorization: `Token ${system.token}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(limitMs),
  });
}
