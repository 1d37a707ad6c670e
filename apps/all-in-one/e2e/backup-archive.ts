import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Contents } from '@stream-events/database/backup';

const runFile = promisify(execFile);
const maxBuffer = 256 * 1024 * 1024;

/** Reads a backup with the system's tar, like an operator would. */
export async function openArchive(
  path: string,
): Promise<{ files: string[]; text: string; contents: Contents }> {
  const [names, text, contents] = await Promise.all([
    runFile('tar', ['tzf', path]),
    runFile('tar', ['xzOf', path], { maxBuffer }),
    runFile('tar', ['xzOf', path, 'contents.json']),
  ]);
  return {
    files: names.stdout.trim().split('\n'),
    text: text.stdout,
    contents: JSON.parse(contents.stdout) as Contents, // Safe cast: tests compare the contents.
  };
}
