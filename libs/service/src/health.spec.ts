import { Health } from './health.js';

describe(Health.name, () => {
  describe('report', () => {
    it('is ok when every check is', async () => {
      const health = new Health();
      health.register('database', () => Promise.resolve());
      health.register('nats', () => Promise.resolve());

      expect(await health.report()).toEqual({
        status: 'ok',
        checks: { database: { status: 'ok' }, nats: { status: 'ok' } },
      });
    });

    it('is ok without checks', async () => {
      expect(await new Health().report()).toEqual({ status: 'ok', checks: {} });
    });

    it.each<[string, () => Promise<void>]>([
      ['rejects', () => Promise.reject(new Error('refused'))],
      [
        'throws before it returns a promise',
        () => {
          throw new Error('refused');
        },
      ],
    ])('says which check failed and why when it %s', async (_, check) => {
      const health = new Health();
      health.register('database', () => Promise.resolve());
      health.register('nats', check);

      expect(await health.report()).toEqual({
        status: 'error',
        checks: { database: { status: 'ok' }, nats: { status: 'error', detail: 'refused' } },
      });
    });

    it('gives up on every check that does not respond within 2 s, all at the same time', async () => {
      const health = new Health();
      const asked: string[] = [];
      for (const name of ['one', 'two', 'three'])
        health.register(name, () => new Promise(() => void asked.push(name)));
      health.register('four', () => Promise.resolve());

      const report = health.report();

      expect(asked).toEqual(['one', 'two', 'three']);
      const { status, checks } = await report;
      expect(status).toBe('error');
      expect(checks.one).toEqual({ status: 'error', detail: 'no response within 2000 ms' });
      expect(checks.four).toEqual({ status: 'ok' });
    });

    it('is an error while the process is stopping', async () => {
      const health = new Health();
      health.register('database', () => Promise.resolve());

      health.markStopping();

      expect(await health.report()).toEqual({
        status: 'error',
        checks: { database: { status: 'ok' }, process: { status: 'error', detail: 'is shutting down' } },
      });
    });
  });
});
