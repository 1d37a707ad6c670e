import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { cpuSeconds, memoryMegabytes } from '../measure/processes.js';

export interface MeasuredCommand {
  ms: number;
  /** Highest private memory. */
  peakMegabytes: number;
  /** CPU seconds of the command itself, without PostgreSQL. */
  cpuSeconds: number;
}

const sampleMs = 100;

/**
 * Runs `npm run backup` or `npm run restore` without building first. Measures time, memory, and CPU.
 *
 * @throws Error with the command's output if the command fails
 */
export async function measureCommand(
  command: 'backup' | 'restore',
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<MeasuredCommand> {
  const name = command === 'backup' ? 'runBackup' : 'runRestore';
  const module = resolve(`apps/all-in-one/dist/backup/run-${command}.js`);
  const code = `import { ${name} } from '${module}'; await ${name}(${JSON.stringify(words)});`;
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  let peakMegabytes = 0;
  let cpu = 0;
  const sampling = setInterval(() => {
    if (child.pid === undefined || child.exitCode !== null) return;
    try {
      peakMegabytes = Math.max(peakMegabytes, memoryMegabytes(child.pid));
      cpu = cpuSeconds(child.pid);
    } catch {
      // The process has just exited.
    }
  }, sampleMs);
  await once(child, 'close');
  clearInterval(sampling);
  if (child.exitCode !== 0) throw new Error(`npm run ${command} failed:\n${output}`);
  return { ms: performance.now() - startedAt, peakMegabytes, cpuSeconds: cpu };
}
