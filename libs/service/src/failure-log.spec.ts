import { FailureLog } from './failure-log.js';
import { createLogger } from './logger.js';

describe(FailureLog.name, () => {
  it('writes at most one line per second for each message, with the number of failures', () => {
    const logger = createLogger('test', 'silent');
    const lines: unknown[][] = [];
    logger.warn = (...line: unknown[]) => void lines.push(line);
    let now = 0;
    const log = new FailureLog(logger, () => now);
    const err = new Error('away');

    for (now = 5_000; now < 7_500; now += 10) log.warn('it failed', { err });
    log.warn('something else failed', { err });

    expect(lines).toEqual([
      [{ err, failures: 1 }, 'it failed'],
      [{ err, failures: 100 }, 'it failed'],
      [{ err, failures: 100 }, 'it failed'],
      [{ err, failures: 1 }, 'something else failed'],
    ]);
  });

  it('logs failures at level info while services start together', () => {
    const logger = createLogger('test', 'silent');
    const lines: string[] = [];
    logger.info = () => void lines.push('info');
    logger.warn = () => void lines.push('warn');
    let now = 0;
    const log = new FailureLog(logger, () => now);

    for (; now < 7_000; now += 1_000) log.warn('it failed', { err: new Error('away') });

    expect(lines).toEqual(['info', 'info', 'info', 'info', 'info', 'warn', 'warn']);
  });
});
