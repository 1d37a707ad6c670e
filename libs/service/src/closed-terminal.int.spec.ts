import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@stream-events/testing';
import { onceStopped } from './service.js';

/** A test cannot close its own terminal, so run the built files in a child process (`npm test` builds them first). */
const program = `
  import { writeFileSync } from 'node:fs';
  import { createLogger, exitOnUnexpectedErrors, onceStopped } from '@stream-events/service';
  const logger = createLogger('test', 'warn');
  const stop = async () => {
    for (let line = 0; line < 20; line += 1) {
      logger.warn('stopping');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    writeFileSync(process.env.STOPPED, 'stopped');
    // Two lines without a pause: the second must wait until the first is written.
    logger.warn('one');
    logger.fatal('two');
  };
  exitOnUnexpectedErrors(logger, onceStopped(logger, stop));
  setInterval(() => undefined, 1_000);
  console.log('ready ' + process.pid);
`;

const isLinux = process.platform === 'linux';
const describeOnLinux = isLinux ? describe : describe.skip;

describeOnLinux(
  `${onceStopped.name}${isLinux ? '' : ' (skipped: needs the options of script on Linux)'}`,
  () => {
    it('stops when the terminal is closed, although the log can no longer be written', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'closed-terminal-'));
      const STOPPED = join(directory, 'stopped');
      const terminal = spawn(
        'script',
        ['-qec', 'exec node --input-type=module --eval "$PROGRAM"', '/dev/null'],
        {
          cwd: fileURLToPath(new URL('.', import.meta.url)),
          env: { ...process.env, NODE_OPTIONS: '', PROGRAM: program, STOPPED },
        },
      );
      let output = '';
      terminal.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      await eventually(() => expect(output).toMatch(/ready \d+/));
      const pid = Number(/ready (\d+)/.exec(output)?.[1]);

      terminal.kill('SIGKILL');
      await once(terminal, 'exit');

      await eventually(async () => expect(await readFile(STOPPED, 'utf8')).toBe('stopped'));
      await eventually(() => expect(access(`/proc/${pid}`)).rejects.toThrow('ENOENT'));
      await rm(directory, { recursive: true });
    });
  },
);
