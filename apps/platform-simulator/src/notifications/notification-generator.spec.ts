import { Pace } from './notification-generator.service.js';

describe(Pace.name, () => {
  describe('take', () => {
    it('gives the events that are due at the rate', () => {
      const pace = new Pace(4, 0);
      expect(pace.take(200, 100)).toEqual({ send: 0, missed: 0 });
      expect(pace.take(1_000, 100)).toEqual({ send: 4, missed: 0 });
      expect(pace.take(1_500, 100)).toEqual({ send: 2, missed: 0 });
    });

    it('gives one event every two seconds at a rate of 0.5', () => {
      const pace = new Pace(0.5, 0);
      const sends = [1_000, 2_000, 3_000, 4_000].map((now) => pace.take(now, 100).send);
      expect(sends).toEqual([0, 1, 0, 1]);
    });

    it('catches up after a stall of one second, and drops older events', () => {
      const pace = new Pace(100, 0);
      expect(pace.take(1_000, 0)).toEqual({ send: 0, missed: 0 });
      expect(pace.take(3_000, 0)).toEqual({ send: 0, missed: 200 });
      expect(pace.take(3_000, 1_000)).toEqual({ send: 100, missed: 0 });
    });

    it('gives nothing when the rate is 0', () => {
      expect(new Pace(0, 0).take(1_000_000, 100)).toEqual({ send: 0, missed: 0 });
    });
  });

  describe('untilNextMs', () => {
    it('returns the time until the next event', () => {
      const pace = new Pace(2, 0);
      pace.take(100, 100);
      expect(pace.untilNextMs()).toBeCloseTo(400);
    });

    it('is infinite when the rate is 0', () => {
      expect(new Pace(0, 0).untilNextMs()).toBe(Infinity);
    });
  });
});
