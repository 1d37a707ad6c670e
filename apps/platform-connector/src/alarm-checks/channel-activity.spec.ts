import fc from 'fast-check';
import { alarmTimes } from '../alarms/alarm-times.js';
import { ChannelActivity } from './channel-activity.js';

const { silence: times } = alarmTimes;
const minute = 60_000;
const hour = 60 * minute;
/** A channel that has been live and watched from the beginning. */
const always = { liveSince: 0, watchedSince: 0 };

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

/** Returns a channel's events per minute at a given time. */
type Rate = (at: number) => number;

/** Returns the times of a channel's events: a Poisson process whose rate changes at most once a minute. */
function* eventTimes(rate: Rate, { seed, until }: { seed: number; until: number }): Generator<number> {
  const random = randomFrom(seed);
  let at = 0;
  while (at < until) {
    const perMinute = rate(at);
    const nextMinute = (Math.floor(at / minute) + 1) * minute;
    const gap = perMinute > 0 ? (-Math.log(1 - random()) / perMinute) * minute : Infinity;
    at = Math.min(at + gap, nextMinute);
    if (at < nextMinute && at < until) yield at;
  }
}

/**
 * Plays the events of a live channel. Returns the times of the events that an alarm preceded, plus `until` if an alarm is open at the end.
 * An alarm lasts until its silence ends, so one check at the end of each silence is enough.
 */
function findAlarms(rate: Rate, { seed, until }: { seed: number; until: number }): number[] {
  const activity = new ChannelActivity(times);
  const alarms: number[] = [];
  for (const at of eventTimes(rate, { seed, until })) {
    if (activity.isSilent(at, always)) alarms.push(at);
    activity.add(at);
  }
  return activity.isSilent(until, always) ? [...alarms, until] : alarms;
}

const seeds = fc.integer({ min: 1, max: 2 ** 31 });

/** Returns a rate that changes every `minutes` minutes. `level` picks each new rate. */
function changing(seed: number, level: (random: () => number) => number, minutes: number): Rate {
  const random = randomFrom(seed);
  const levels: number[] = [];
  return (at) => {
    const index = Math.floor(at / (minutes * minute));
    while (levels.length <= index) levels.push(level(random));
    return levels[index] ?? 0;
  };
}

describe(ChannelActivity.name, () => {
  describe('isSilent', () => {
    it.each([0.01, 0.1, 0.5, 1, 3, 10])(
      'raises no alarm in 1,000 live hours at %d events per minute',
      (perMinute) => {
        const alarms = Array.from({ length: 10 }, (_, seed) =>
          findAlarms(() => perMinute, { seed: seed + 1, until: 100 * hour }),
        );
        expect(alarms.flat()).toEqual([]);
      },
    );

    it('raises no alarm for quiet channels of any rate up to 15 events per minute', () => {
      fc.assert(
        fc.property(fc.double({ min: 0, max: 15, noNaN: true }), seeds, (perMinute, seed) => {
          expect(findAlarms(() => perMinute, { seed, until: 12 * hour })).toEqual([]);
        }),
        { numRuns: 40, seed: 42 },
      );
    });

    it('raises no alarm for channels whose events come in bursts', () => {
      fc.assert(
        fc.property(fc.double({ min: 0.5, max: 15, noNaN: true }), seeds, (perMinute, seed) => {
          // Cubing makes the rate uneven: a third of the minutes have hardly any events, and some have four times as many as usual.
          const level = (random: () => number): number => perMinute * 4 * random() ** 3;
          expect(findAlarms(changing(seed, level, 1), { seed, until: 12 * hour })).toEqual([]);
        }),
        { numRuns: 40, seed: 43 },
      );
    });

    it('raises no alarm when channels have a fifth of their events for minutes, again and again', () => {
      fc.assert(
        fc.property(fc.double({ min: 2, max: 30, noNaN: true }), seeds, (perMinute, seed) => {
          const level = (random: () => number): number => (random() < 0.5 ? perMinute : perMinute / 5);
          expect(findAlarms(changing(seed, level, 3), { seed, until: 12 * hour })).toEqual([]);
        }),
        { numRuns: 40, seed: 44 },
      );
    });

    it('raises an alarm within 90 s when a channel with 35 events per minute or more stops', () => {
      fc.assert(
        fc.property(fc.double({ min: 35, max: 300, noNaN: true }), seeds, (perMinute, seed) => {
          const stop = 20 * minute + (seed % minute);
          const alarms = findAlarms((at) => (at < stop ? perMinute : 0), { seed, until: stop + 85_000 });
          expect(alarms).toHaveLength(1);
        }),
        { numRuns: 60, seed: 45 },
      );
    });

    it('raises an alarm within 90 s when a very busy channel stops, although its rate varies', () => {
      const rate = changing(3, (random) => 300 * (0.3 + 1.4 * random()), 1);
      const stop = 30 * minute;
      const alarms = findAlarms((at) => (at < stop ? rate(at) : 0), { seed: 3, until: stop + 85_000 });
      expect(alarms).toHaveLength(1);
    });

    it('raises an alarm within the hour when a channel with 3 events per minute stops', () => {
      const alarms = findAlarms((at) => (at < hour ? 3 : 0), { seed: 7, until: 2 * hour });
      expect(alarms).toHaveLength(1);
    });

    it('raises no alarm before it knows the channel for ten minutes', () => {
      const stop = 9 * minute;
      expect(findAlarms((at) => (at < stop ? 60 : 0), { seed: 1, until: 5 * hour })).toEqual([]);
    });

    it('judges only by the present stream', () => {
      const activity = new ChannelActivity(times);
      for (let at = 0; at < 20 * minute; at += 1_000) activity.add(at);
      const now = 20 * minute + 70_000;

      expect(activity.isSilent(now, always)).toBe(true);
      expect(activity.isSilent(now, { ...always, liveSince: 15 * minute })).toBe(false);
    });

    it('counts no silence before the channel was watched', () => {
      const activity = new ChannelActivity(times);
      for (let at = 0; at < 20 * minute; at += 1_000) activity.add(at);
      const watchedSince = hour;

      expect(activity.isSilent(hour + 10_000, { ...always, watchedSince })).toBe(false);
      expect(activity.isSilent(hour + 70_000, { ...always, watchedSince })).toBe(true);
    });

    it('remembers the rate, however long the silence lasts', () => {
      const activity = new ChannelActivity(times);
      for (let at = 0; at < 20 * minute; at += 1_000) activity.add(at);

      expect(activity.isSilent(100 * hour, always)).toBe(true);
      expect(activity.rateSince(0)).toBeCloseTo(60);
    });

    it('knows nothing about a channel without events', () => {
      expect(new ChannelActivity(times).isSilent(hour, always)).toBe(false);
    });
  });
});
