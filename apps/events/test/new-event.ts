import type { NewEvent } from '@stream-events/contracts';
import { v7 } from 'uuid';

/** Returns an event as the gateway sends it. A test passes only the values that matter to it. */
export function newEvent(overrides: Partial<NewEvent> = {}): NewEvent {
  return {
    id: v7(),
    eventId: null,
    eventType: 'channel-follow',
    eventSource: 'PlatformSub',
    origin: 'platform',
    eventData: '{"user_id":"1","broadcaster_user_id":"4711"}',
    idempotencyKey: null,
    ...overrides,
  };
}

export function newEvents(count: number, overrides: Partial<NewEvent> = {}): NewEvent[] {
  return Array.from({ length: count }, () => newEvent(overrides));
}
