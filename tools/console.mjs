// Builds apps/console: bundles it, compresses the bundle, and checks the size of the first load. With the arguments `serve <gateway>`,
// serves the sources instead of building.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { build, createServer } from 'vite';
import { compressFiles } from './compress-files.mjs';

const project = fileURLToPath(new URL('../apps/console/', import.meta.url));
const dist = `${project}dist/`;

/** Maximum size of the scripts that a page loads first, compressed with gzip, which every browser and proxy supports. */
const maxFirstLoadKilobytes = 300;

const config = {
  root: project,
  base: '/console/',
  configFile: false,
  plugins: [react()],
  logLevel: 'warn',
};

/** Serves the sources with Vite, which updates the page when the sources change. The gateway serves the API and the overlay. */
async function serveConsole(gatewayUrl) {
  const paths = ['/api', '/api-token-auth', '/ws', '/health', '/overlay'];
  const proxy = Object.fromEntries(paths.map((path) => [path, { target: gatewayUrl, ws: path === '/ws' }]));
  const server = await createServer({ ...config, server: { host: '127.0.0.1', proxy } });
  await server.listen();
  process.stdout.write(
    `  Console: ${server.resolvedUrls.local[0]} shows changes of apps/console immediately\n`,
  );
}

async function buildConsole() {
  await build({
    ...config,
    build: {
      target: 'es2022',
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 1_000,
      manifest: true,
      // The form library needs this package only for its own tests, which the bundle does not contain.
      rolldownOptions: { external: ['@rjsf/validator-ajv8'] },
    },
  });
  compressFiles(dist);
  checkFirstLoad();
}

/**
 * Fails if a page's first load is larger than the limit. The first load is the entry, the page, and all their static imports. Scripts that
 * the page loads later, such as the form for test events, do not count.
 */
function checkFirstLoad() {
  const manifest = JSON.parse(readFileSync(`${dist}.vite/manifest.json`, 'utf8'));
  const chunks = Object.entries(manifest);
  const entry = filesOf(manifest, chunks.find(([, chunk]) => chunk.isEntry)[0]);
  const pages = chunks
    .filter(([name]) => name.endsWith('.page.tsx'))
    .map(([name]) => filesOf(manifest, name));
  const sizes = pages.map((page) => sizeOf(new Set([...entry, ...page])));
  const largest = Math.max(sizeOf(entry), ...sizes);
  process.stdout.write(`Console: the first load is at most ${largest} kB of compressed script\n`);
  if (largest <= maxFirstLoadKilobytes) return;
  process.stderr.write(
    `The first load of the console is too large: the limit is ${maxFirstLoadKilobytes} kB of compressed script.\n`,
  );
  process.exit(1);
}

/** Returns the script of a chunk and all scripts that it imports. */
function filesOf(manifest, name, seen = new Set()) {
  const { file, imports = [] } = manifest[name];
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const imported of imports) filesOf(manifest, imported, seen);
  return seen;
}

function sizeOf(files) {
  const bytes = [...files].reduce(
    (sum, file) => sum + gzipSync(readFileSync(dist + file), { level: 9 }).length,
    0,
  );
  return Math.ceil(bytes / 1_000);
}

const [command, gatewayUrl] = process.argv.slice(2);
if (command === 'serve') await serveConsole(gatewayUrl);
else await buildConsole();
