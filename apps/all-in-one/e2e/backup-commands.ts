import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@stream-events/testing';

const runFile = promisify(execFile);

/** `output` combines stdout and stderr. */
export interface CommandResult {
  code: number;
  output: string;
}

function programOf(command: 'backup' | 'restore', words: readonly string[]): string[] {
  const module = resolve(`apps/all-in-one/dist/backup/run-${command}.js`);
  const name = command === 'backup' ? 'runBackup' : 'runRestore';
  const code = `import { ${name} } from '${module}'; await ${name}(${JSON.stringify(words)});`;
  return ['--input-type=module', '--eval', code];
}

function optionsOf(environment: Readonly<Record<string, string>>) {
  return { env: { PATH: process.env.PATH, ...environment } };
}

/** Runs the script behind `npm run backup` or `npm run restore`, without building first. */
export async function runCommand(
  command: 'backup' | 'restore',
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  try {
    const { stdout, stderr } = await runFile(
      process.execPath,
      programOf(command, words),
      optionsOf(environment),
    );
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }; // Safe cast: execFile rejects with this shape.
    return { code, output: stdout + stderr };
  }
}

/** A running command that the test can kill. */
export class RunningCommand {
  private text = '';
  private readonly child: ChildProcess;
  private readonly exit: Promise<void>;

  constructor(
    command: 'backup' | 'restore',
    words: readonly string[],
    environment: Readonly<Record<string, string>>,
  ) {
    this.child = spawn(process.execPath, programOf(command, words), optionsOf(environment));
    const note = (chunk: Buffer): void => void (this.text += chunk.toString());
    this.child.stdout?.on('data', note);
    this.child.stderr?.on('data', note);
    this.exit = new Promise((end) => this.child.once('close', () => end()));
  }

  get output(): string {
    return this.text;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exit;
  }
}

/**
 * Starts a restore that blocks until the test kills it. The restore reads the archive twice from a pipe, and the pipe holds back the second
 * read. Returns when the restore waits for its first rows. After killing the restore, close the pipe.
 */
export async function startHeldRestore(
  archive: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ restore: RunningCommand; pipe: FileHandle }> {
  const path = `${archive}.pipe`;
  await runFile('mkfifo', [path]);
  const restore = new RunningCommand('restore', [path], environment);
  const checked = await open(path, 'w');
  await checked.writeFile(await readFile(archive));
  await checked.close();
  await eventually(() => expect(restore.output).toContain('The backup is complete'), { timeoutMs: 120_000 });
  // `open` returns when the restore opens the pipe a second time, to load the rows.
  return { restore, pipe: await open(path, 'w') };
}
