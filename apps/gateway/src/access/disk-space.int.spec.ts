import { statfs } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { Registry, type Alarms, type Logger } from '@stream-events/service';
import { DiskSpace } from './disk-space.service.js';

// In MiB: more than any disk has, and less than the disk of this test has free.
const [everything, hardlyAnything] = [100_000_000, 1];

describe(DiskSpace.name, () => {
  function setup(minMegabytes: number, directory: string | undefined = tmpdir()) {
    const warnings: unknown[][] = [];
    const logger = {
      warn: (...line: unknown[]) => warnings.push(line),
      info: () => undefined,
    } as unknown as Logger; // Safe cast: DiskSpace uses nothing else.
    const metrics = new Registry();
    const config = { MIN_FREE_DISK_MB: minMegabytes, DATA_DIR: directory };
    const alarms: string[] = [];
    const board = {
      raise: (key: string) => void alarms.push(`raised ${key}`),
      clear: (key: string) => void alarms.push(`cleared ${key}`),
    } as unknown as Alarms; // Safe cast: DiskSpace uses nothing else.
    return { sut: new DiskSpace(config, logger, metrics, board), config, warnings, metrics, alarms };
  }

  it('refuses while the free space is below the minimum, and says which limit, its value, and when to try again', async () => {
    const { sut } = setup(everything);
    sut.refuseWhenLow();
    await sut.check();

    expect(() => sut.refuseWhenLow()).toThrow(
      expect.objectContaining({
        code: 'unavailable',
        retryAfterSeconds: 60,
        detail: expect.stringContaining('less than 100000000 MiB of free space (MIN_FREE_DISK_MB)') as string,
      }) as Error,
    );
  });

  it('warns and raises an alarm when the space becomes low, and clears it when it is sufficient again, once each', async () => {
    const { sut, config, warnings, alarms } = setup(hardlyAnything);
    const { bavail, bsize } = await statfs(tmpdir());
    await sut.check();
    expect(warnings).toEqual([]);
    Object.assign(sut, { minBytes: 2 * bavail * bsize });
    await sut.check();
    await sut.check();
    expect(() => sut.refuseWhenLow()).toThrow();
    // More space than the minimum, but less than the 1.1-fold minimum for recovery.
    Object.assign(sut, { minBytes: 0.95 * bavail * bsize });
    await sut.check();
    expect(() => sut.refuseWhenLow()).toThrow();
    Object.assign(sut, { minBytes: 0.5 * bavail * bsize });
    await sut.check();
    sut.refuseWhenLow();

    expect(alarms).toEqual([`raised disk_low:${hostname()}`, `cleared disk_low:${hostname()}`]);
    expect(warnings).toEqual([
      [expect.objectContaining({ directory: config.DATA_DIR }), 'disk space is low, rejecting client writes'],
      [
        expect.objectContaining({ directory: config.DATA_DIR }),
        'disk space is sufficient again, accepting client writes',
      ],
    ]);
  });

  it('reports the free space', async () => {
    const { sut, metrics } = setup(everything);
    await sut.check();

    expect(await metrics.getSingleMetricAsString('gateway_disk_low')).toMatch(/gateway_disk_low 1$/);
    const [value] = (await metrics.getSingleMetric('gateway_disk_free_bytes')?.get())?.values ?? [];
    expect(value?.value).toBeGreaterThan(0);
  });

  it('checks the disk from the start', async () => {
    const { sut } = setup(everything);
    sut.onApplicationBootstrap();
    await sut.onModuleDestroy();

    expect(() => sut.refuseWhenLow()).toThrow();
  });

  it.each([
    ['no directory is given', everything, undefined],
    ['the minimum is 0', 0, tmpdir()],
  ])('checks nothing when %s', async (_, minimum, directory) => {
    const { sut, config } = setup(minimum);
    Object.assign(config, { DATA_DIR: directory });
    sut.onApplicationBootstrap();
    await sut.onModuleDestroy();

    sut.refuseWhenLow();
  });
});
