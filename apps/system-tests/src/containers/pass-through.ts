import { WebSocket } from 'ws';
import type { KeptPromise, Section } from '../measure/report.js';
import { requestToken, type ContainerBed } from './container-bed.js';

const limitMs = 20_000;
const eventType = 'container-test';

/** Checks that live connections and the client's address pass through the proxy. */
export async function checkPassThrough(bed: ContainerBed): Promise<Section> {
  return {
    title: 'Proxy',
    paragraphs: [],
    promises: [
      await tell('An event arrives over a WebSocket through the proxy', receiveOverWebSocket(bed)),
      await tell('An event arrives as a server-sent event through the proxy', receiveOverStream(bed)),
      await tell(
        'The gateway sees the client’s address, and ignores an X-Forwarded-For header from the client',
        readClientAddress(bed),
      ),
    ],
  };
}

async function tell(promise: string, measuring: Promise<string>): Promise<KeptPromise> {
  return measuring.then(
    (measured) => ({ promise, measured, isKept: true }),
    (error: unknown) => ({ promise, measured: String(error), isKept: false }),
  );
}

async function receiveOverWebSocket({ project, token }: ContainerBed): Promise<string> {
  const socket = new WebSocket(`${project.url.replace('http', 'ws')}/ws/platform-events/?positions=true`, {
    headers: { authorization: `Token ${token}` },
  });
  try {
    return await new Promise<string>((resolve, reject) => {
      socket.once('error', reject);
      setTimeout(() => reject(new Error(`nothing arrived within ${limitMs / 1_000} s`)), limitMs).unref();
      socket.on('message', (data: Buffer) => {
        const text = data.toString();
        if (text.includes('"ready"')) sendEvent(project.url, token).catch(reject);
        if (text.includes(eventType)) resolve('received');
      });
    });
  } finally {
    socket.terminate();
  }
}

async function receiveOverStream({ project, token }: ContainerBed): Promise<string> {
  const response = await fetch(`${project.url}/api/v1/platform-events/stream`, {
    headers: { authorization: `Token ${token}` },
    signal: AbortSignal.timeout(limitMs),
  });
  const decoder = new TextDecoder();
  let isSent = false;
  for await (const chunk of response.body ?? []) {
    const text = decoder.decode(chunk as Uint8Array, { stream: true }); // Safe cast: bodies are bytes
    // The stream begins with a position. Events after the position are certainly delivered.
    if (!isSent) await sendEvent(project.url, token);
    isSent = true;
    if (text.includes(eventType)) return 'received';
  }
  throw new Error('the stream ended');
}

/** Logs in with a forged address. The audit log must contain neither that address nor the proxy's. */
async function readClientAddress({ project, token }: ContainerBed): Promise<string> {
  const forged = '203.0.113.9';
  await requestToken(project, { 'x-forwarded-for': forged });
  const response = await fetch(`${project.url}/api/v1/audit-log?page_size=1`, {
    headers: { authorization: `Token ${token}` },
  });
  const text = await response.text();
  const seen = /"address":"([\d.a-f:]+)"/.exec(text)?.[1];
  if (seen === undefined || text.includes(forged) || (await project.addressesOf('proxy')).includes(seen))
    throw new Error(`the audit log does not contain the client’s address: ${text}`);
  return 'the address of the client';
}

async function sendEvent(url: string, token: string): Promise<void> {
  const response = await fetch(`${url}/api/v1/platform-events/${eventType}/test`, {
    method: 'POST',
    headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    body: '{"user_name":"somebody"}',
  });
  if (!response.ok) throw new Error(`the test event returned ${response.status}`);
}
