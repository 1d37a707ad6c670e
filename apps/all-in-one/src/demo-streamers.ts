import { setTimeout as wait } from 'node:timers/promises';

/** Where the demonstration takes place. */
export interface Demo {
  /** Address of the API. */
  url: string;
  /** An owner's. */
  token: string;
  simulatorUrl: string;
}

const requestTimeoutMs = 10_000;

// The services have only just started: a look-up may be refused until the first access token is there.
const attempts = 5;
const pauseMs = 1_000;

/**
 * Monitors the broadcasters of the simulated platform, so that there is something to see at once: by the API, as a user would. All
 * else works without them: what fails is said, and keeps nobody from the token that the first start shows.
 */
export async function monitorDemoStreamers(demo: Demo, say: (line: string) => void): Promise<void> {
  try {
    await monitorAll(demo);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`Simulated streamers: not all are monitored, add them yourself (${reason})`);
  }
}

async function monitorAll({ url, token, simulatorUrl }: Demo): Promise<void> {
  const world = await fetch(`${simulatorUrl}/simulator`, { signal: AbortSignal.timeout(requestTimeoutMs) });
  const { broadcasters } = (await world.json()) as { broadcasters: { login: string }[] }; // holds: our own simulator answers
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
    if (attempt === attempts)
      throw new Error(`${login} could not be monitored: ${response.status} ${await response.text()}`);
    await wait(pauseMs);
  }
}
