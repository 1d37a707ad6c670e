import { isJsonObject } from '../json-object.js';

/**
 * Core NATS subject on which a gateway sends messages to a user's live connections of one name. Every gateway replies with the number of
 * its connections that accepted the message. Only gateways can use this subject.
 */
export const namedConnectionsSubject = 'live.connections';

/** One user's live connections of one name. Other users' connections never match. */
export interface LiveTarget {
  userId: string;
  name: string;
}

/** An event to send: its id, and its record as JSON text. */
export interface SentRecord {
  id: string;
  record: string;
}

/** Controls for clients: names in the API, with descriptions. */
export const liveControls = {
  skip: 'end the current alert',
  replay: 'show the last alert again',
  pause: 'show no further alerts',
  resume: 'continue to show alerts',
} as const;

export type LiveControl = keyof typeof liveControls;

/** A message to named connections: records or a control. Without either, the message only asks for the number of connections. */
export interface LiveTargetMessage {
  target: LiveTarget;
  records: readonly SentRecord[];
  /** A connection accepts a control only if it asked for controls. */
  control?: LiveControl;
}

/** A gateway's reply. */
export interface LiveTargetReply {
  /** The id of the gateway's instance, as in `InstanceReport`. */
  gateway: string;
  /** Number of the gateway's connections that accepted the message. */
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

/** Parses the output of `printTargetMessage`; undefined for any other text. */
export function parseTargetMessage(text: string): LiveTargetMessage | undefined {
  const message = parseObject(text);
  const { user: userId, name, records, control } = message;
  if (typeof userId !== 'string' || typeof name !== 'string' || !Array.isArray(records)) return undefined;
  const parsed = records.map(parseRecord).filter((record) => record !== undefined);
  if (parsed.length !== records.length || (control !== undefined && !isLiveControl(control)))
    return undefined;
  return { target: { userId, name }, records: parsed, ...(control && { control }) };
}

/** Whether a value is a control's name. */
export function isLiveControl(value: unknown): value is LiveControl {
  return typeof value === 'string' && Object.hasOwn(liveControls, value);
}

/** Parses a gateway's reply; undefined for any other text. */
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
