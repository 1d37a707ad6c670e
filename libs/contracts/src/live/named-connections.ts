import { isJsonObject } from '../json-object.js';

/**
 * The subject on core NATS on which a gateway sends messages to a user's live connections with a given name. Every gateway replies with the
 * number of its connections that accepted the message. Only gateways may use this subject.
 */
export const namedConnectionsSubject = 'live.connections';

/** A user's live connections with a given name. Excludes other users' connections with the same name. */
export interface LiveTarget {
  userId: string;
  name: string;
}

/** An event to send: its id, and its record as JSON text. */
export interface SentRecord {
  id: string;
  record: string;
}

/** The controls that can be sent to clients: the name of each control in the API, with its description. */
export const liveControls = {
  skip: 'end the current alert',
  replay: 'show the last alert again',
  pause: 'show no further alerts',
  resume: 'continue to show alerts',
} as const;

export type LiveControl = keyof typeof liveControls;

/**
 * A message from a gateway to named connections, with records or a control. A message with neither only asks how many connections there
 * are.
 */
export interface LiveTargetMessage {
  target: LiveTarget;
  records: readonly SentRecord[];
  /** Only connections that have asked for controls accept a message with a control. */
  control?: LiveControl;
}

/** A gateway's reply. */
export interface LiveTargetReply {
  /** The random id of the process, as in `LiveUsageMessage`. */
  gateway: string;
  /** The number of the gateway's connections that accepted the message. */
  connections: number;
}

/** Prints a message as JSON. */
export function printTargetMessage({ target, control, records }: LiveTargetMessage): string {
  return JSON.stringify({
    user: target.userId,
    name: target.name,
    control,
    records: records.map(({ id, record }) => [id, record]),
  });
}

/** Parses the output of `printTargetMessage`. Returns undefined for any other text. */
export function parseTargetMessage(text: string): LiveTargetMessage | undefined {
  const message = parseObject(text);
  const { user: userId, name, records, control } = message;
  if (typeof userId !== 'string' || typeof name !== 'string' || !Array.isArray(records)) return undefined;
  const parsed = records.map(parseRecord).filter((record) => record !== undefined);
  if (parsed.length !== records.length || (control !== undefined && !isLiveControl(control)))
    return undefined;
  return { target: { userId, name }, records: parsed, ...(control && { control }) };
}

/** Whether a value is the name of a control. */
export function isLiveControl(value: unknown): value is LiveControl {
  return typeof value === 'string' && Object.hasOwn(liveControls, value);
}

/** Parses a gateway's reply. Returns undefined for any other text. */
export function parseTargetReply(text: string): LiveTargetReply | undefined {
  const { gateway, connections } = parseObject(text);
  if (typeof gateway !== 'string' || !Number.isInteger(connections)) return undefined;
  return { gateway, connections: Number(connections) };
}

function parseRecord(value: unknown): SentRecord | undefined {
  const [id, record] = Array.isArray(value) ? (value as unknown[]) : [];
  return typeof id === 'string' && typeof record === 'string' ? { id, record } : undefined;
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
