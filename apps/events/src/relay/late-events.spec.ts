import { v7 } from 'uuid';
import { includesLateEvent, maxPublishingDelayMs } from './late-events.js';

describe(includesLateEvent.name, () => {
  const now = Date.UTC(2026, 0, 1);
  const receivedAgo = (milliseconds: number) => ({ id: v7({ msecs: now - milliseconds }) });

  it('is true when one event was received over an hour ago', () => {
    expect(includesLateEvent([], now)).toBe(false);
    expect(includesLateEvent([receivedAgo(0), receivedAgo(maxPublishingDelayMs)], now)).toBe(false);
    expect(includesLateEvent([receivedAgo(0), receivedAgo(maxPublishingDelayMs + 1)], now)).toBe(true);
  });
});
