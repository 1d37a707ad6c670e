import { pino } from 'pino';
import { describeLogLine } from './log-sentences.js';
import { toLoggedError } from './logger.js';

describe(describeLogLine.name, () => {
  let lines: string[];
  let logger: pino.Logger;

  beforeEach(() => {
    lines = [];
    const write = (line: string): number => lines.push(describeLogLine(line));
    logger = pino(
      { base: { service: 'platform-connector' }, serializers: { err: toLoggedError } },
      { write },
    );
  });

  it('describes an alarm in a sentence', () => {
    const detail = 'Two of the nine shards are lost. Restart the connectors.';
    logger.error({ key: 'shard_lost:4', detail }, 'alarm raised');
    expect(lines.join('')).toMatch(
      /^\d\d:\d\d:\d\d error platform-connector: alarm raised\. Two of the nine shards are lost\. Restart the connectors\. \(key: shard_lost:4\)\n$/,
    );
  });

  it('shows the message of an error that the service can mend, the stack of any other error, and further facts', () => {
    const err = new Error('connection reset');
    logger.warn({ err, attempts: 3, open: ['a'] }, 'cannot post, retrying');
    logger.fatal({ err }, 'cannot start the service');
    expect(lines[0]).toMatch(
      /warn platform-connector: cannot post, retrying\. connection reset \(attempts: 3, open: \["a"\]\)\n$/,
    );
    expect(lines[1]).toMatch(
      /fatal platform-connector: cannot start the service\. Error: connection reset\n +at /,
    );
  });
});
