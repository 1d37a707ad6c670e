import { alarmTimes, type SilenceRule } from '../alarms/alarm-times.js';
import { ChannelActivity } from './channel-activity.js';

const { silence: rule } = alarmTimes;
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const weekMs = 7 * 24 * hour;

/** Returns the activity of a channel with `count` events at equal intervals, the last of them at `end`. */
function activityOf(count: number, { intervalMs, end = 10 * hour }: { intervalMs: number; end?: number }) {
  const activity = new ChannelActivity();
  for (let left = count - 1; left >= 0; left -= 1) activity.add(end - left * intervalMs);
  return activity;
}

/** Returns a generator of random numbers from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Session {
  /** The times of the chat messages. */
  events: number[];
  end: number;
}

interface Phase {
  perMinute: number;
  minutes: number;
}

/**
 * Simulates a week of a channel's chat, in streams of two to six hours. Most phases of a stream have about the channel's usual rate, from 2
 * to 60 messages per minute. Bursts have hundreds of messages per minute. Lulls have hardly any messages, and breaks of up to six minutes
 * have none; after both, the chat continues at the usual rate.
 */
function simulateWeek(seed: number): Session[] {
  const random = randomFrom(seed);
  const between = (min: number, max: number): number => min + (max - min) * random();
  const usual = between(2, 60);
  const choosePhases = (): Phase[] => {
    const phases = [{ perMinute: usual * between(0.3, 2), minutes: between(3, 20) }];
    const kind = random();
    if (kind < 0.1) phases.push({ perMinute: between(100, 400), minutes: between(1, 10) });
    else if (kind < 0.3) phases.push({ perMinute: between(0.5, 2), minutes: between(2, 12) });
    else if (kind < 0.5) phases.push({ perMinute: 0, minutes: between(1, 6) });
    return phases;
  };
  const sessions: Session[] = [];
  for (let at = between(1, 10) * hour; at < weekMs; at += between(8, 24) * hour) {
    const session: Session = { events: [], end: at + between(2, 6) * hour };
    while (at < session.end)
      for (const { perMinute, minutes } of choosePhases()) {
        const end = Math.min(session.end, at + minutes * minute);
        session.events.push(...eventTimes(random, perMinute, { from: at, until: end }));
        at = end;
      }
    sessions.push(session);
  }
  return sessions;
}

/** Returns the times of independent events (a Poisson process). */
function eventTimes(
  random: () => number,
  perMinute: number,
  { from, until }: { from: number; until: number },
): number[] {
  const times: number[] = [];
  const nextAfter = (at: number): number => at - (Math.log(1 - random()) / perMinute) * minute;
  for (let at = nextAfter(from); at < until; at = nextAfter(at)) times.push(at);
  return times;
}

/** Counts the silences in a simulated week that raise an alarm. Every one of them is false, because no event is lost. */
function countFalseAlarms(sessions: readonly Session[], silence: SilenceRule): number {
  let alarms = 0;
  for (const { events, end } of sessions) {
    // The check forgets a channel that is no longer live, so each stream starts without events.
    const activity = new ChannelActivity();
    // An alarm lasts until its silence ends, so one check at the end of each silence is enough.
    for (const at of events) {
      if (activity.isSilent(at, 0, silence)) alarms += 1;
      activity.add(at);
    }
    if (activity.isSilent(end, 0, silence)) alarms += 1;
  }
  return alarms;
}

describe(ChannelActivity.name, () => {
  describe('isSilent', () => {
    it('finds a busy channel after ten minutes of silence, however long the silence lasts', () => {
      const activity = activityOf(300, { intervalMs: 10 * second });
      const { lastAt } = activity;

      expect(activity.isSilent(lastAt + 10 * minute - 1, 0, rule)).toBe(false);
      expect(activity.isSilent(lastAt + 10 * minute, 0, rule)).toBe(true);
      expect(activity.isSilent(lastAt + 100 * hour, 0, rule)).toBe(true);
    });

    it('does not watch a channel with fewer than 300 events in the last hour', () => {
      const few = activityOf(299, { intervalMs: 10 * second });
      const slow = activityOf(3_000, { intervalMs: 13 * second });
      for (const activity of [few, slow, new ChannelActivity()])
        expect(activity.isSilent(100 * hour, 0, rule)).toBe(false);
    });

    it('counts no silence from before the channel was watched', () => {
      const activity = activityOf(300, { intervalMs: second });
      const watchedSince = activity.lastAt + hour;

      expect(activity.isSilent(watchedSince + 10 * minute - 1, watchedSince, rule)).toBe(false);
      expect(activity.isSilent(watchedSince + 10 * minute, watchedSince, rule)).toBe(true);
    });

    it('ends with the next event, after which only the hour before that event counts', () => {
      const activity = activityOf(300, { intervalMs: second });
      const next = activity.lastAt + 2 * hour;
      activity.add(next);

      expect(activity.eventsInHour).toBe(1);
      expect(activity.isSilent(next + hour, 0, rule)).toBe(false);
    });

    it('raises at most one false alarm in a week of chat that comes in bursts', () => {
      const weeks = Array.from({ length: 20 }, (_, index) => simulateWeek(index + 1));

      for (const week of weeks) expect(countFalseAlarms(week, rule)).toBeLessThanOrEqual(1);
      // The weeks are hard ones: with a limit of four minutes, every channel would raise false alarms.
      for (const week of weeks)
        expect(countFalseAlarms(week, { ...rule, silenceMs: 4 * minute })).toBeGreaterThan(1);
    });
  });
});
