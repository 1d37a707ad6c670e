import { setTimeout as wait } from 'node:timers/promises';
import type { Simulator } from './simulated-platform.js';

export interface Demo {
  /** Base URL of the API. */
  url: string;
  /** An owner's token. */
  token: string;
  simulator: Simulator;
}

const requestTimeoutMs = 10_000;

// Attempts to add a streamer. Right after the start, look-ups fail until the connector has an access token.
const attempts = 5;
const pauseMs = 1_000;

/**
 * Monitors the simulator's broadcasters through the public API, so that new users see streamers immediately. The service works without
 * streamers, so a failure only prints a line: the start must go on and print the owner's token.
 */
export async function monitorDemoStreamers(demo: Demo, say: (line: string) => void): Promise<void> {
  try {
    await monitorAll(demo);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`Cannot monitor all simulated streamers; add the missing ones through the API (${reason})`);
  }
}

async function monitorAll({ url, token, simulator }: Demo): Promise<void> {
  const world = await fetch(`${simulator.url}/simulator`, {
    headers: { authorization: `Bearer ${simulator.controlSecret}` },
    signal: AbortSignal.timeout(requestTimeoutMs),
  });
  const { broadcasters } = (await world.json()) as { broadcasters: { login: string }[] }; // Safe cast: this is our own simulator
  for (const { login } of broadcasters) await monitor(login, { url, token });
}

async function monitor(login: string, { url, token }: Pick<Demo, 'url' | 'token'>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${url}/api/v1/streamers`, {
      method: 'POST',
      headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ platform_username: login }),
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    if (response.status === 201 || response.status === 409) return;
    if (attempt === attempts) throw new Error(`${login}: ${response.status} ${await response.text()}`);
    await wait(pauseMs);
  }
}
