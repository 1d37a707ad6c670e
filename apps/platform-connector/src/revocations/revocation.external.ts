import { isJsonObject, parseJson } from '@stream-events/contracts';

/** A subscription that the platform has revoked. */
export interface Revocation {
  subscriptionId: string;
  /** The reason, in the platform's terms. */
  status: string;
}

/**
 * Reads a message of the EVENTS stream. Returns undefined when the message is not a revocation by the platform. An event that a
 * client added has no `event_id`, and a test event has another origin.
 */
export function readRevocation(payload: string): Revocation | undefined {
  const record = parse(payload);
  if (!isJsonObject(record) || record.event_type !== 'subscription-revocation') return undefined;
  const { origin, event_id: eventId, event_data: data } = record;
  if (origin !== 'platform' || typeof eventId !== 'string' || !isJsonObject(data)) return undefined;
  const { id, status } = data;
  return typeof id === 'string' && typeof status === 'string' ? { subscriptionId: id, status } : undefined;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // not published by the events service
  }
}
