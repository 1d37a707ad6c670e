import { isJsonObject } from '../json-object.js';

/**
 * The subject on core NATS on which every gateway announces the open connections of its users, so that limits apply across all gateways.
 * Only gateways may use this subject.
 */
export const liveUsageSubject = 'live.usage';

/** The numbers of a user's open connections at one gateway. */
export interface LiveUsage {
  /** All live connections, including those that read or wait to read older events. */
  connections: number;
  /** Connections that are reading older events from the EVENTS stream. */
  catchUps: number;
  /** Connections that are waiting for their turn to read older events. */
  waiting: number;
}

/** A gateway's announcement. A user whose numbers are all 0 no longer has open connections at this gateway. */
export interface LiveUsageMessage {
  /** A random id of the process. */
  gateway: string;
  users: readonly (LiveUsage & { id: string })[];
}

/** Prints an announcement as JSON. Each user is an array, which halves the size. */
export function printLiveUsage({ gateway, users }: LiveUsageMessage): string {
  return JSON.stringify({
    gateway,
    users: users.map(({ id, connections, catchUps, waiting }) => [id, connections, catchUps, waiting]),
  });
}

/** Parses the output of `printLiveUsage`. Returns undefined for any other text. */
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
