import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface WheelRequest {
  /** URL of the index. Default: pip's configured index. */
  index: string | undefined;
  distribution: string;
  file: string;
}

const TIMEOUT_MS = 300_000;
/** pip's configuration files in the user's home folder, in order of precedence. */
const SETTING_FILES = [
  ['.config', 'pip', 'pip.conf'],
  ['.pip', 'pip.conf'],
  ['Library', 'Application Support', 'pip', 'pip.conf'],
  ['AppData', 'Roaming', 'pip', 'pip.ini'],
  ['pip', 'pip.ini'],
];

/**
 * Downloads a file from a package index through its "simple" pages (PEP 503 and 691). The caller must check the hash.
 *
 * @throws Error if the file cannot be downloaded
 */
export async function fetchWheel({ index, distribution, file }: WheelRequest): Promise<Uint8Array> {
  const configured = index ?? (await configuredIndex(process.env, homedir()));
  if (configured === undefined)
    throw new Error(
      'no package index is configured for a download without pip: set PIP_INDEX_URL to the address of an index',
    );
  const page = new URL(`${configured.replace(/\/*$/, '')}/${distribution}/`);
  const listing = await get(page, page);
  const links = findLinks(await listing.text(), page);
  const link = links.find(({ pathname }) => decodeURIComponent(pathname).endsWith(`/${file}`));
  if (!link) throw new Error(`the package index has no ${file}`);
  return new Uint8Array(await (await get(link, page)).arrayBuffer());
}

/** Returns the index that pip is configured to use. Returns undefined if none is configured. */
export async function configuredIndex(
  environment: NodeJS.ProcessEnv,
  home: string,
): Promise<string | undefined> {
  if (environment.PIP_INDEX_URL) return environment.PIP_INDEX_URL;
  const files = [environment.PIP_CONFIG_FILE, ...SETTING_FILES.map((parts) => join(home, ...parts))];
  for (const path of [...files, '/etc/pip.conf']) {
    if (path === undefined) continue;
    // Skip missing and unreadable files, as pip does.
    const text = await readFile(path, 'utf8').catch(() => '');
    const [, index] = /^\s*index[-_]url\s*[=:]\s*(\S+)\s*$/m.exec(text) ?? [];
    if (index !== undefined) return index;
  }
  return undefined;
}

/** Finds the file URLs in an index page: `href` in HTML, `url` in JSON. */
function findLinks(text: string, page: URL): URL[] {
  const matches = text.matchAll(/(?:href=|"url":\s*)"(?<link>[^"]+)"/g);
  return [...matches].map(({ groups }) => new URL(groups?.link ?? '', page));
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
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new Error(`cannot reach the package index at ${target.origin}`, { cause });
  });
  if (!response.ok)
    throw new Error(`the package index at ${target.origin} responded with ${response.status}`);
  return response;
}
