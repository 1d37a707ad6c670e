import { hostname } from 'node:os';
import { jest } from '@jest/globals';
import type { Alarms } from '@stream-events/service';
import { alarmTimes } from '../alarms/alarm-times.js';
import { PlatformClock } from '../platform/platform-clock.js';
import type { PlatformHealth } from '../platform/platform-health.service.js';
import { InstanceAlarms } from './instance-alarms.service.js';

const subject = `platform-connector@${hostname()}:${process.pid}`;
const now = Date.parse('2026-11-21T08:00:00Z');

describe(InstanceAlarms.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const setup = () => {
    const open = new Map<string, string>();
    const alarms = {
      raise: (key: string, message: string) => void open.set(key, message),
      clear: (key: string) => void open.delete(key),
    } as unknown as Alarms; // Safe cast: nothing else is used.
    const health = { circuitState: 'closed' };
    const clock = new PlatformClock();
    const sut = new InstanceAlarms(health as PlatformHealth, clock, alarms, alarmTimes);
    return { sut, open, health, clock };
  };

  it('raises an alarm when the platform has not responded for 30 s, and clears it when it does', () => {
    const { sut, open, health } = setup();
    health.circuitState = 'open';
    sut.check();
    jest.advanceTimersByTime(29_000);
    sut.check();
    expect([...open]).toEqual([]);
    jest.advanceTimersByTime(1_000);
    sut.check();
    expect([...open.keys()]).toEqual([`platform_unavailable:${subject}`]);
    health.circuitState = 'closed';
    sut.check();
    expect([...open]).toEqual([]);
  });

  it.each([
    ['behind', 11 * 60_000, /11 minutes behind the platform/],
    ['ahead', -11 * 60_000, /11 minutes ahead of the platform/],
  ])('raises an alarm when the clock is %s, and clears it when it is right', (_, offset, message) => {
    const { sut, open, clock } = setup();
    clock.note(new Date(now + offset).toUTCString(), now - 100, now + 100);
    sut.check();
    expect(open.get(`clock_off:${subject}`)).toMatch(message);
    clock.note(new Date(now).toUTCString(), now - 100, now + 100);
    sut.check();
    expect([...open]).toEqual([]);
  });

  it.each([
    ['it differs by 4 minutes', new Date(now + 240_000).toUTCString(), now],
    ['a reply was too slow to tell', new Date(now + 3_600_000).toUTCString(), now - 11_000],
    ['the time changed during the call', new Date(now + 3_600_000).toUTCString(), now + 60_000],
    ['the header is not a time', 'yesterday', now],
    ['there is no header', undefined, now],
  ])('raises no alarm about the clock when %s', (_, date, sentAt) => {
    const { sut, open, clock } = setup();
    clock.note(date, sentAt, now);
    sut.check();
    expect([...open]).toEqual([]);
  });
});
