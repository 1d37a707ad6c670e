import { isJsonObject, parseJson } from '@stream-events/contracts';

/** A subscription that the platform has revoked. */
export interface Revocation {
  subscriptionId: string;
  /** The platform's name for the reason. */
  status: string;
}

/**
 * Reads a message from the EVENTS stream. Returns undefined unless it is a revocation by the platform: events that a client added have no
 * `event_id`, and test events have another origin.
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
