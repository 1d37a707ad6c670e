import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { FuzzBed } from './fuzz-bed.js';

export interface SchemathesisResult {
  /** Requests, as schemathesis counts them. */
  cases: number;
  operations: string;
  findings: string[];
  ms: number;
}

const version = '4.32.5';

/**
 * Excluded checks. `positive_data_acceptance` expects that the service accepts every request that fits the API description. The service
 * also refuses for reasons that a description cannot express:
 *
 * - a cursor from another list
 * - a time in the past
 * - a wrong password
 * - a name that the platform does not know
 * - two fields that exclude each other
 */
const leftOutChecks = ['positive_data_acceptance'];

/** Excluded operations, each with the reason. */
export const leftOutOperations: Readonly<Record<string, string>> = {
  '/api/v1/platform-events/stream': 'the response does not end',
  '/ws/platform-events': 'the response is not HTTP',
  '/api/v1/users/me/token': 'revokes the token of the test when a generated password is correct',
  '/api/v1/users/me/password': 'revokes the token of the test when a generated password is correct',
  '/api/v1/sessions/current': 'ends the session of the test; a request with the main token gets 409',
};

/**
 * Runs schemathesis on the running system with an owner's token. Installs it into a virtual environment under node_modules/.cache.
 *
 * @throws Error if schemathesis cannot be installed
 */
export async function runSchemathesis(
  { url, system }: FuzzBed,
  { seed, examples }: { seed: string; examples: number },
): Promise<SchemathesisResult> {
  const program = install();
  const directory = mkdtempSync(join(tmpdir(), 'schemathesis-'));
  const startedAt = performance.now();
  const left = Object.keys(leftOutOperations).flatMap((path) => ['--exclude-path', path]);
  const args = [
    ...[
      'run',
      resolve('docs/openapi.json'),
      '--url',
      url,
      '--header',
      `Authorization: Token ${system.token}`,
    ],
    ...['--checks', 'all', '--exclude-checks', leftOutChecks.join(','), ...left],
    ...['--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', String(examples)],
    ...['--seed', String(Number(seed) || 1), '--generation-database', 'none', '--continue-on-failure'],
    ...['--max-response-time', '5', '--request-timeout', '15', '--no-color'],
    ...['--report', 'json', '--report-json-path', join(directory, 'report.json'), '--warnings', 'off'],
  ];
  try {
    const output = await runToEnd(program, args, directory);
    return { ...readOutput(output), ms: performance.now() - startedAt };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Installs the pinned version if it is missing. Returns the program's path. */
function install(): string {
  const home = resolve(`node_modules/.cache/stream-events/schemathesis-${version}`);
  const program = join(home, 'bin/schemathesis');
  if (existsSync(program)) return program;
  mkdirSync(home, { recursive: true });
  runNow('python3', ['-m', 'venv', home]);
  runNow(join(home, 'bin/pip'), ['install', '--quiet', `schemathesis==${version}`]);
  return program;
}

function runNow(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot install schemathesis: ${program} ${args.join(' ')}: ${stderr}`);
}

/** Returns the program's output. @param cwd folder for the files that the program writes */
function runToEnd(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ text: string; code: number | null }> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const note = (chunk: Buffer): void => void (text += chunk.toString());
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  return new Promise((settle, reject) => {
    child.once('error', reject);
    child.once('close', (code) => settle({ text, code }));
  });
}

/** Extracts the summary and the failures. */
function readOutput({ text, code }: { text: string; code: number | null }): Omit<SchemathesisResult, 'ms'> {
  const [, cases = '0'] = /([\d,]+) generated/.exec(text) ?? [];
  const [, operations = '?'] = /Operations:\s+(.*)/.exec(text) ?? [];
  const failures = text
    .split(/^=+ (?:FAILURES|ERRORS) =+$/m)
    .slice(1)
    .join('\n');
  const all = failures.split(/^_{3,} (?=[A-Z])/m).slice(1);
  const findings = all.filter((failure) => !isDecided(failure)).map((failure) => failure.slice(0, 1_500));
  const isFailed = code !== 0 && all.length === 0;
  return {
    cases: Number(cases.replaceAll(',', '')),
    operations,
    findings: isFailed ? [`schemathesis ended with ${code}: ${text.slice(-2_000)}`] : findings,
  };
}

/**
 * Whether a failure shows intended behavior that the API description cannot express: an empty value counts as absent, and the last value of
 * a repeated parameter wins.
 */
function isDecided(failure: string): boolean {
  const parameter = /Invalid component: parameter `(\w+)` in query/.exec(failure)?.[1];
  const url = /'(https?:[^']+)'/.exec(failure)?.[1];
  if (parameter === undefined || url === undefined) return false;
  const values = new URL(url).searchParams.getAll(parameter);
  return values.at(-1) === '' || values.length > 1;
}
