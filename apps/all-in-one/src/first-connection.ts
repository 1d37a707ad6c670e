import { ServiceError, type ConnectionMessage } from '@stream-events/contracts';
import { scopes } from '@stream-events/platforms';
import { pause } from '@stream-events/service';
import type { AllInOneConfig } from './all-in-one.config.js';

/** The part of the platform connector that asks a channel for consent. */
export interface Connections {
  /** Undefined when a channel has been connected. */
  offer(): Promise<ConnectionMessage | undefined>;
  /** @throws ServiceError `not_found` when it was deleted; other errors while it cannot be read */
  get(id: string): Promise<ConnectionMessage>;
}

/** What `npm start` says about the first channel. */
export interface FirstConnection {
  lines: readonly string[];
  /** The id of the connection that waits for consent. */
  id?: string;
}

const guide = 'docs/twitch.md';
const watchIntervalMs = 2_000;
const permissions = new Map(scopes.map(({ scope, description }) => [scope, description]));

/**
 * Leads from the platform's credentials to the first channel. The simulated platform needs no consent. A failure does not stop the
 * start: the service works without a channel.
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
    return { lines: [`No channel is connected. ${reason}`, `${guide} leads you through it.`] };
  }
}

/** Says when the channel is connected, or that it is not. Ends when the connection is deleted, and when the signal aborts. */
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

/** Undefined when the connection was deleted. Unknown while it waits for consent, and while it cannot be read. */
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
    'It asks for your permission to:',
    ...asked.map((scope) => `  - ${permissions.get(scope) ?? scope}`),
    `${guide} explains each step.`,
  ];
}
