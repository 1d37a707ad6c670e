import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startLimitMs, startStack, type Stack } from './stack.js';

const version = '4.32.5';
const canInstall = spawnSync('python3', ['-c', 'import ensurepip']).status === 0;
// For the installation and thousands of requests.
const limitMs = 900_000;

/**
 * `positive_data_acceptance` expects that the service accepts every request that fits the API description. The service also refuses for
 * reasons that a description cannot express: a cursor from another list, a time in the past, a wrong password, a name that the platform
 * does not know, two fields that exclude each other.
 */
const excludedChecks = ['positive_data_acceptance'];

const excludedPaths = [
  '/api/v1/platform-events/stream', // the response does not end
  '/ws/platform-events', // the response is not HTTP
  '/api/v1/users/me/token', // revokes the token of the test when a generated password is correct
  '/api/v1/users/me/password', // the same
  '/api/v1/sessions/current', // a request with a token gets 409
];

/**
 * schemathesis (https://schemathesis.readthedocs.io) makes valid and invalid requests from the API description that the gateway serves, and
 * checks that no response is a server error, and that each status, content type, and body is documented.
 */
describe('the API and its description', () => {
  let stack: Stack;

  beforeAll(async () => {
    if (!canInstall) return;
    const killable = ['gateway', 'events', 'platform-connector', 'streamer-monitor'] as const;
    stack = await startStack({ gateways: 1, events: 1, platform: true, killable: [...killable] });
  }, startLimitMs);

  afterAll(() => stack?.stop());

  (canInstall ? it : it.skip)(
    'agree, says schemathesis (skipped where python3 cannot make a virtual environment)',
    async () => {
      const { cases, findings } = await runSchemathesis(stack.url, stack.ownerToken);

      expect(findings).toEqual([]);
      expect(cases).toBeGreaterThan(1_000);
      for (const service of [...stack.gateways, ...stack.events, ...stack.connectors, ...stack.monitors]) {
        expect(service.isRunning).toBe(true);
        // On a busy machine, calls to the simulated platform time out, so this alarm is right.
        const errors = service.output
          .split('\n')
          .filter((line) => /"level":(50|60)/.test(line) && !line.includes('"key":"platform_unavailable:'));
        expect(errors).toEqual([]);
      }
    },
    limitMs,
  );
});

async function runSchemathesis(url: string, token: string): Promise<{ cases: number; findings: string[] }> {
  const program = install();
  const directory = mkdtempSync(join(tmpdir(), 'schemathesis-'));
  const args = [
    ...['run', `${url}/api/openapi.json`, '--url', url, '--header', `Authorization: Token ${token}`],
    ...['--checks', 'all', '--exclude-checks', excludedChecks.join(',')],
    ...excludedPaths.flatMap((path) => ['--exclude-path', path]),
    ...['--phases', 'examples,coverage,fuzzing,stateful', '--max-examples', '1', '--seed', '1'],
    ...['--generation-database', 'none', '--continue-on-failure', '--max-response-time', '5'],
    ...['--request-timeout', '15', '--no-color', '--warnings', 'off'],
  ];
  try {
    // Exits with a code other than 0 if it finds something.
    const options = { cwd: directory, maxBuffer: 64 * 1024 ** 2 };
    const { stdout, stderr } = await promisify(execFile)(program, args, options).catch(
      (error: unknown) => error as { stdout: string; stderr: string }, // Safe cast: of execFile
    );
    return readOutput(stdout + stderr);
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
  for (const [command = '', ...args] of [
    ['python3', '-m', 'venv', home],
    [join(home, 'bin/pip'), 'install', '--quiet', `schemathesis==${version}`],
  ]) {
    const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`cannot install schemathesis: ${stderr}`);
  }
  return program;
}

function readOutput(output: string): { cases: number; findings: string[] } {
  const [, cases] = /([\d,]+) generated/.exec(output) ?? [];
  if (cases === undefined) throw new Error(`schemathesis did not finish: ${output.slice(-2_000)}`);
  const failures = output.split(/^=+ (?:FAILURES|ERRORS) =+$/m).slice(1);
  const findings = failures.flatMap((section) => section.split(/^_{3,} (?=[A-Z])/m).slice(1));
  return {
    cases: Number(cases.replaceAll(',', '')),
    findings: findings.filter((finding) => !isIntended(finding)).map((finding) => finding.slice(0, 1_500)),
  };
}

/**
 * Whether a finding shows intended behavior that the API description cannot express: an empty value counts as absent, and the last value of
 * a repeated parameter wins.
 */
function isIntended(finding: string): boolean {
  const parameter = /Invalid component: parameter `(\w+)` in query/.exec(finding)?.[1];
  const url = /'(https?:[^']+)'/.exec(finding)?.[1];
  if (parameter === undefined || url === undefined) return false;
  const values = new URL(url).searchParams.getAll(parameter);
  return values.at(-1) === '' || values.length > 1;
}
