import { Broadcasts, countViewers, createStreamId, findListed, type Stream } from './broadcasts.js';
import { World } from './world.js';

const stream: Stream = {
  ...{ id: '123456789012345', userId: '7', startedAt: 0, endedAt: null },
  ...{ listedFrom: 0, listedUntil: Infinity, viewers: null },
};

describe(createStreamId.name, () => {
  it('gives every stream of every user its own stable id', () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => createStreamId('seed', `${index % 200}`, index));
    expect(new Set(ids).size).toBe(20_000);
    expect(ids.every((id) => /^\d{15}$/.test(id))).toBe(true);
    expect(createStreamId('seed', '0', 0)).toBe(ids[0]);
    expect(createStreamId('other', '0', 0)).not.toBe(ids[0]);
  });
});

describe(countViewers.name, () => {
  it('varies, is never negative, and is the same for the same time', () => {
    const hours = Array.from({ length: 500 }, (_, index) => index * 30_000);
    const counts = hours.map((now) => countViewers(stream, now));
    expect(new Set(counts).size).toBeGreaterThan(20);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(0);
    expect(hours.map((now) => countViewers(stream, now))).toEqual(counts);
  });

  it('returns a fixed count unchanged', () => {
    expect(countViewers({ ...stream, viewers: 12 }, 1e9)).toBe(12);
  });
});

describe(Broadcasts.name, () => {
  it('finds each of 10,000 live streams by its user without a scan', () => {
    const world = new World('seed');
    const users = Array.from({ length: 10_000 }, () => world.users.addGenerated());
    for (const { id } of users) world.broadcasts.start(world.channel(id), { now: 0 });
    expect(world.broadcasts.liveCount).toBe(10_000);
    const began = process.cpuUsage();
    // Look up all users 20 times. A linear scan would take up to two billion steps.
    for (let round = 0; round < 20; round += 1) {
      expect(users.every(({ id }) => findListed(world.channel(id), 1) !== undefined)).toBe(true);
    }
    // CPU time, because other tests share the machine.
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(2_000);
  });
});
