import { isJsonObject } from '../json-object.js';

/**
 * Core NATS subject on which each gateway announces its users' open connections, so that limits apply across gateways. Only gateways can
 * use this subject.
 */
export const liveUsageSubject = 'live.usage';

/** Counts of a user's open connections at one gateway. */
export interface LiveUsage {
  /** All live connections, including those that read older events or wait for their turn to do so. */
  connections: number;
  /** Connections that are reading older events from the EVENTS stream. */
  catchUps: number;
  /** Connections that wait for their turn to read older events. */
  waiting: number;
}

/**
 * A gateway's announcement. `users` also contains named tokens, by their ids. A user whose counts are all zero no longer has open
 * connections at this gateway.
 */
export interface LiveUsageMessage {
  /** Random id of the process. */
  gateway: string;
  users: readonly (LiveUsage & { id: string })[];
}

/** Prints an announcement as JSON. Users are arrays, which halves the size. */
export function printLiveUsage({ gateway, users }: LiveUsageMessage): string {
  return JSON.stringify({
    gateway,
    users: users.map(({ id, connections, catchUps, waiting }) => [id, connections, catchUps, waiting]),
  });
}

/** Parses the output of `printLiveUsage`; undefined for any other text. */
export function parseLiveUsage(text: string): LiveUsageMessage | undefined {
  const message = parseJson(text);
  const { gateway, users } = isJsonObject(message) ? message : {};
  if (typeof gateway !== 'string' || !Array.isArray(users)) return undefined;
  const parsed = users.map(parseUser);
  return parsed.includes(undefined)
    ? undefined
    : { gateway, users: parsed.filter((user) => user !== undefined) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseUser(value: unknown): (LiveUsage & { id: string }) | undefined {
  const [id, connections, catchUps, waiting] = Array.isArray(value) ? (value as unknown[]) : [];
  if (typeof id !== 'string' || !isCount(connections) || !isCount(catchUps) || !isCount(waiting))
    return undefined;
  return { id, connections, catchUps, waiting };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}
