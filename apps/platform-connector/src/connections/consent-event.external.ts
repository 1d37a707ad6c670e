import { isJsonObject, isStorableText, parseJson } from '@stream-events/contracts';

const changes = new Map<unknown, 'granted' | 'revoked'>([
  ['user-authorization-grant', 'granted'],
  ['user-authorization-revoke', 'revoked'],
]);

/** A user who gave consent to the application or withdrew it. */
export interface ConsentEvent {
  change: 'granted' | 'revoked';
  userId: string;
}

/**
 * Reads a message from the EVENTS stream. Returns undefined unless it is a consent event from the platform: events that a client added have
 * no `event_id`, and test events have another origin.
 */
export function readConsentEvent(payload: string): ConsentEvent | undefined {
  const record = parse(payload);
  if (!isJsonObject(record)) return undefined;
  const { event_type: type, origin, event_id: eventId, event_data: data } = record;
  const change = changes.get(type);
  if (!change || origin !== 'platform' || typeof eventId !== 'string' || !isJsonObject(data))
    return undefined;
  const { user_id: userId } = data;
  return typeof userId === 'string' && isStorableText(userId) ? { change, userId } : undefined;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // not published by the events service
  }
}
