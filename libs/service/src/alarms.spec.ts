import type { ReportAlarmsRequest } from '@stream-events/contracts';
import { Alarms } from './alarms.js';

describe(Alarms.name, () => {
  let reports: ReportAlarmsRequest[];
  let isDown: boolean;
  let now: number;
  let sut: Alarms;

  beforeEach(() => {
    [reports, isDown, now] = [[], false, 0];
    const save = (report: ReportAlarmsRequest): Promise<void> => {
      if (isDown) return Promise.reject(new Error('the database is gone'));
      reports.push(report);
      return Promise.resolve();
    };
    sut = new Alarms(save, { info: () => undefined, warn: () => undefined }, () => now);
  });

  /** Advances the clock and saves once per second, as the background task does. */
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      now += 1_000;
      await sut.saveChanges().catch(() => undefined);
    }
  };
  const low = { key: 'disk_low:host', message: 'The disk is nearly full.' };

  it('saves an alarm, repeats it every 20 s, and clears it', async () => {
    sut.raise('disk_low:host', low.message);
    await pass(1);
    expect(reports).toEqual([{ raised: [low], cleared: [] }]);
    await pass(20);
    expect(reports).toHaveLength(2);
    sut.clear('disk_low:host');
    await pass(1);
    expect(reports.at(-1)).toEqual({ raised: [], cleared: ['disk_low:host'] });
    await pass(60);
    expect(reports).toHaveLength(3);
  });

  it('saves nothing when a check says again and again what is known', async () => {
    for (let second = 0; second < 15; second += 1) {
      sut.raise('disk_low:host', low.message);
      sut.clear('clock_off');
      await pass(1);
    }
    expect(reports).toEqual([{ raised: [low], cleared: ['clock_off'] }]);
  });

  it('saves everything once the database is back', async () => {
    isDown = true;
    sut.raise('disk_low:host', low.message);
    sut.clear('shard_lost:3');
    await pass(60);
    expect(reports).toEqual([]);
    isDown = false;
    await pass(10);
    expect(reports).toEqual([{ raised: [low], cleared: ['shard_lost:3'] }]);
  });

  it('leaves an alarm to another process', async () => {
    sut.raise('disk_low:host', low.message);
    await pass(1);
    sut.withdraw('disk_low:host');
    await pass(60);
    expect(reports).toHaveLength(1);
  });

  it('is bounded', async () => {
    for (let shard = 0; shard < 1_000; shard += 1) sut.raise(`shard_lost:${shard}`, 'lost');
    for (let shard = 0; shard < 1_000; shard += 1) sut.clear(`shard_lost:${shard + 1_000}`);
    await pass(10);
    expect(Math.max(...reports.map(({ raised, cleared }) => Math.max(raised.length, cleared.length)))).toBe(
      200,
    );
    expect(new Set(reports.flatMap(({ cleared }) => cleared)).size).toBe(1_000);
  });
});
