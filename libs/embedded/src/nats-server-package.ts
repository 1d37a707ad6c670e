import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from './error-code.js';
import { plainEnvironment, runCommand, type CommandResult, type Log } from './run-command.js';

/** Time limit for a download of about 14 MB: 10 MB of Debian package lists and a 4 MB package. Slow connections need minutes. */
export const DOWNLOAD_TIMEOUT_MS = 300_000;
export const APT_GET = '/usr/bin/apt-get';
const SYSTEM_APT = '/etc/apt';

/**
 * apt checks a package against the hash in the package list, and the list against the signed Release file. These settings reject unverified
 * packages even if apt.conf allows them.
 */
const VERIFIED_ONLY = [
  'APT::Get::AllowUnauthenticated=false',
  'Acquire::AllowInsecureRepositories=false',
  'Acquire::AllowWeakRepositories=false',
  'Acquire::AllowDowngradeToInsecureRepositories=false',
];

/** Options that make apt trust an unsigned repository. TRUST_OPTION matches one-line sources, TRUST_FIELD matches .sources files. */
const TRUST_OPTION = /\b(?:trusted|allow-(?:insecure|weak|downgrade-to-insecure))\s*=\s*[^\s\]]+/gi;
const TRUST_FIELD = /^(?:Trusted|Allow-(?:Insecure|Weak|Downgrade-To-Insecure))\s*:.*$/gim;

export interface PackageSource {
  name: string;
  /** Folder with apt's sources. Default: the system's. */
  aptDirectory?: string;
}

/**
 * Downloads a package that apt has verified into the folder `work`. Downloads fresh package lists if the system's lists are empty or old,
 * or if an apt source is set to trust unsigned repositories.
 *
 * @param reasons collects why the download failed
 */
export async function downloadPackage(
  work: string,
  { name, aptDirectory = SYSTEM_APT }: PackageSource,
  { log, reasons }: { log: Log; reasons: string[] },
): Promise<string | undefined> {
  const etc = join(work, 'apt');
  const hadTrustMarks = await copySources(aptDirectory, etc);
  if (aptDirectory === SYSTEM_APT && !hadTrustMarks) {
    const direct = await aptGet(['download', name], { cwd: work, settings: [] });
    const found = await findArchive(work);
    if (direct.succeeded && found !== undefined) return found;
  }

  log(`NATS: cannot download ${name} with the system package lists; downloading new lists (about 10 MB)`);
  const folders = ['state/lists/partial', 'cache/archives/partial'];
  await Promise.all(folders.map((folder) => mkdir(join(work, folder), { recursive: true })));
  const settings = [
    `Dir::Etc::sourcelist=${join(etc, 'sources.list')}`,
    `Dir::Etc::sourceparts=${join(etc, 'sources.list.d')}`,
    `Dir::State=${join(work, 'state')}`,
    `Dir::State::lists=${join(work, 'state/lists')}`,
    'Dir::State::status=/var/lib/dpkg/status',
    `Dir::Cache=${join(work, 'cache')}`,
  ];
  const update = await aptGet(['update'], { cwd: work, settings });
  const download = await aptGet(['download', name], { cwd: work, settings });
  const archive = await findArchive(work);
  if (download.succeeded && archive !== undefined) return archive;
  reasons.push(`apt-get download ${name}: ${explain(download)}`);
  if (!update.succeeded) reasons.push(`apt-get update: ${explain(update)}`);
  return undefined;
}

/** Installs a package that apt has verified. Needs root. */
export function installPackage(name: string): Promise<CommandResult> {
  return aptGet(['install', '--yes', '--no-install-recommends', name], { cwd: '/', settings: [] });
}

/** Returns apt's errors, without warnings, as one line; the last two lines of the output if it has no errors. */
export function explain(result: CommandResult): string {
  const lines = result.output.split('\n');
  const errors = lines.filter((line) => line.startsWith('E:'));
  return (errors.length > 0 ? errors : lines.slice(-2)).join(' ');
}

/** Copies apt's sources without the options that trust unsigned repositories. Returns whether there were any. */
async function copySources(from: string, to: string): Promise<boolean> {
  await mkdir(join(to, 'sources.list.d'), { recursive: true });
  let hadMarks = false;
  for (const entry of ['sources.list', 'sources.list.d'])
    await cp(join(from, entry), join(to, entry), { recursive: true, dereference: true }).catch(
      (error: unknown) => {
        if (!hasCode(error, 'ENOENT')) throw error;
      },
    );
  for (const name of await readdir(to, { recursive: true })) {
    if (!/\.(?:list|sources)$/.test(name)) continue;
    const text = await readFile(join(to, name), 'utf8');
    const cleaned = text.replaceAll(TRUST_OPTION, '').replaceAll(TRUST_FIELD, '#');
    hadMarks ||= cleaned !== text;
    await writeFile(join(to, name), cleaned);
  }
  return hadMarks;
}

async function findArchive(work: string): Promise<string | undefined> {
  const name = (await readdir(work)).find((entry) => entry.endsWith('.deb'));
  return name === undefined ? undefined : join(work, name);
}

function aptGet(
  args: readonly string[],
  options: { cwd: string; settings: readonly string[] },
): Promise<CommandResult> {
  // Under root, do not switch to apt's user _apt, who cannot write to our folder. The timeout limits how long a dead connection blocks.
  const settings = [
    ...['APT::Sandbox::User=root', 'Acquire::http::Timeout=20', 'Acquire::Retries=1'],
    ...VERIFIED_ONLY,
    ...options.settings,
  ];
  return runCommand(APT_GET, [...settings.flatMap((setting) => ['-o', setting]), '-qq', ...args], {
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
    cwd: options.cwd,
    env: { ...plainEnvironment(), DEBIAN_FRONTEND: 'noninteractive' },
  });
}
