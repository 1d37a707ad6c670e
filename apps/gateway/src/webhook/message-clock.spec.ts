import type { Alarms } from '@stream-events/service';
import { MessageClock } from './message-clock.js';

const now = Date.parse('2026-11-21T08:00:00Z');
const old = '2026-11-21T07:20:00.123456789Z';

describe(MessageClock.name, () => {
  const setup = () => {
    const log: string[] = [];
    const alarms = {
      raise: (key: string, message: string) => void log.push(`raised ${key.split('@')[0]}: ${message}`),
      clear: (key: string) => void log.push(`cleared ${key.split('@')[0]}`),
    } as unknown as Alarms; // Safe cast: MessageClock uses nothing else.
    return { sut: new MessageClock(alarms), log };
  };

  it('raises an alarm when three signed messages in a minute are too old, and clears it at the first one that is not', () => {
    const { sut, log } = setup();
    for (const seconds of [0, 10, 20]) sut.noteStale(old, now + seconds * 1_000);
    expect(log).toEqual([
      expect.stringMatching(/^raised clock_off:gateway: .* about 40 minutes ahead of the platform/),
    ]);
    sut.noteFresh(now + 30_000);
    sut.noteFresh(now + 31_000);
    expect(log.slice(1)).toEqual(['cleared clock_off:gateway']);
  });

  it.each([
    ['two', [0, 10]],
    ['three in more than a minute', [0, 31, 62]],
  ])('raises no alarm for %s messages', (_, seconds) => {
    const { sut, log } = setup();
    for (const second of seconds) sut.noteStale(old, now + second * 1_000);
    expect(log).toEqual([]);
  });

  it('raises no alarm while other messages are fresh: the platform redelivers old ones', () => {
    const { sut, log } = setup();
    sut.noteFresh(now);
    for (const seconds of [1, 2, 3]) sut.noteStale(old, now + seconds * 1_000);
    expect(log).toEqual([]);
  });
});
