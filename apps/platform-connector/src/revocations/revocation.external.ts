import { isJsonObject } from '@stream-events/contracts';

/** A subscription that the platform has ended. */
export interface Revocation {
  subscriptionId: string;
  /** Why, as the platform names it. */
  status: string;
}

/**
 * Reads a message of the EVENTS stream; undefined when it is no revocation by the platform: what clients add by hand has no
 * `event_id`, and what is a test says so.
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
    return JSON.parse(text);
  } catch {
    return undefined; // nothing that the events service has published
  }
}
