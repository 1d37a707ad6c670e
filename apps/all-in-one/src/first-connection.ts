import { ServiceError, type ConnectionMessage } from '@stream-events/contracts';
import { scopes } from '@stream-events/platforms';
import { pause } from '@stream-events/service';
import type { AllInOneConfig } from './all-in-one.config.js';

/** How `npm start` asks the platform connector to connect a channel. */
export interface Connections {
  /** Starts a connection, or returns the pending one. Returns undefined if an account is already connected. */
  offer(): Promise<ConnectionMessage | undefined>;
  /** @throws ServiceError `not_found` if the connection was deleted; other errors if it cannot be read at the moment */
  get(id: string): Promise<ConnectionMessage>;
}

/** What `npm start` prints about the first channel. */
export interface FirstConnection {
  lines: readonly string[];
  /** Id of the connection that waits for consent. */
  id?: string;
}

const guide = 'docs/twitch.md';
const watchIntervalMs = 2_000;
const permissions = new Map(scopes.map(({ scope, description }) => [scope, description]));

/**
 * Starts connecting the first channel and returns instructions for the user. The simulator needs no consent. A failure does not stop the
 * start, because the service works without a channel.
 */
export async function offerFirstConnection(
  { PLATFORM }: Pick<AllInOneConfig, 'PLATFORM'>,
  connections: Connections,
): Promise<FirstConnection> {
  if (PLATFORM === 'simulator' || PLATFORM === 'none') return { lines: [] };
  try {
    const connection = await connections.offer();
    return connection ? { id: connection.id, lines: describe(connection) } : { lines: [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { lines: [`No channel is connected. ${reason}`, `${guide} shows how to connect a channel.`] };
  }
}

/** Waits for the user's consent and prints the outcome. Returns early if the connection is deleted or the signal aborts. */
export async function reportConnection(
  connections: Connections,
  id: string,
  { say, signal }: { say: (line: string) => void; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    await pause(watchIntervalMs, signal);
    const connection = await read(connections, id);
    if (connection === 'unknown') continue;
    if (connection?.state === 'connected')
      say(`The channel ${connection.login} is connected. Its events arrive from now on.`);
    else if (connection?.remedy) say(`${connection.remedy} ${guide} shows how.`);
    return;
  }
}

/** Returns undefined if the connection was deleted; `unknown` while it waits for consent or cannot be read. */
async function read(
  connections: Connections,
  id: string,
): Promise<ConnectionMessage | 'unknown' | undefined> {
  try {
    const connection = await connections.get(id);
    return connection.state === 'pending' ? 'unknown' : connection;
  } catch (error) {
    return error instanceof ServiceError && error.code === 'not_found' ? undefined : 'unknown';
  }
}

function describe({ userCode, verificationUri, expiresAt, scopes: asked }: ConnectionMessage): string[] {
  const minutes = Math.max(1, Math.round(((expiresAt ?? 0) - Date.now()) / 60_000));
  return [
    `Connect your channel: open this page within ${minutes} minutes, sign in as the channel, and confirm the code ${userCode}`,
    `  ${verificationUri}`,
    'The page asks for your permission to:',
    ...asked.map((scope) => `  - ${permissions.get(scope) ?? scope}`),
    `${guide} explains each step.`,
  ];
}
