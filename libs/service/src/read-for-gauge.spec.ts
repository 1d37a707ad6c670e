import { Gauge, Registry } from 'prom-client';
import { FailureLog } from './failure-log.js';
import { readForGauge } from './read-for-gauge.js';

describe(readForGauge.name, () => {
  it('keeps a value that cannot be read from failing the other metrics, and logs why', async () => {
    const lines: unknown[][] = [];
    const note = (...line: unknown[]): void => void lines.push(line);
    const failureLog = new FailureLog({ info: note, warn: note });
    const metrics = new Registry();
    const err = new Error('column "size" does not exist');
    const replies = [() => Promise.resolve(7), () => Promise.reject(err)];
    new Gauge({
      name: 'store_bytes',
      help: 'Size of the store',
      registers: [metrics],
      async collect() {
        this.set((await readForGauge(this, failureLog, async () => await replies.shift()?.())) ?? Number.NaN);
      },
    });
    new Gauge({ name: 'other', help: 'Another gauge', registers: [metrics] }).set(1);

    expect(await metrics.metrics()).toMatch(/store_bytes 7\n.*other 1\n/s);
    expect(lines).toEqual([]);
    expect(await metrics.metrics()).toMatch(/store_bytes Nan\n.*other 1\n/s);
    expect(lines).toEqual([[{ err, failures: 1 }, 'cannot update the metric store_bytes']]);
  });
});
