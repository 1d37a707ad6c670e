import { FailureLog } from './failure-log.js';
import { createLogger } from './logger.js';

describe(FailureLog.name, () => {
  it('writes one line a second at most for each kind, which says how many failures it stands for', () => {
    const logger = createLogger('test', 'silent');
    const lines: unknown[][] = [];
    logger.warn = (...line: unknown[]) => void lines.push(line);
    let now = 0;
    const log = new FailureLog(logger, () => now);
    const err = new Error('away');

    for (now = 0; now < 2_500; now += 10) log.warn('it failed', { err });
    log.warn('something else failed', { err });

    expect(lines).toEqual([
      [{ err, failures: 1 }, 'it failed'],
      [{ err, failures: 100 }, 'it failed'],
      [{ err, failures: 100 }, 'it failed'],
      [{ err, failures: 1 }, 'something else failed'],
    ]);
  });
});
