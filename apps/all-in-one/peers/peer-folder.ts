import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder with programs of others. */
export class PeerFolder {
  private constructor(readonly path: string) {}

  static async create(): Promise<PeerFolder> {
    return new PeerFolder(await mkdtemp(join(tmpdir(), 'peers-')));
  }

  /**
   * Runs a program in the folder and returns its standard output.
   *
   * @throws Error with the program's whole output if it fails
   */
  run(program: string, args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
    // Jest's options for Node are not for the program.
    const { NODE_OPTIONS: _, ...variables } = process.env;
    const child = spawn(program, args, { cwd: this.path, env: { ...variables, ...environment } });
    let output = '';
    let all = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      all += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => (all += chunk.toString()));
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) =>
        code === 0 ? resolve(output) : reject(new Error(`${program} ended with ${code}:\n${all}`)),
      );
    });
  }

  remove(): Promise<void> {
    // Go makes its module cache read-only, but root and the owner of the folders can still remove it.
    return rm(this.path, { recursive: true, force: true });
  }
}
