// Completes the build of libs/client: makes its dist folder a package for `npm pack ./libs/client/dist`. Its package.json omits the
// settings that only this repository needs: Nx targets, scripts, and the export of sources.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const client = new URL('libs/client/', root);
const { name, version, description, license, type, engines, dependencies } = JSON.parse(
  readFileSync(new URL('package.json', client), 'utf8'),
);
const packageJson = {
  name,
  version,
  description,
  license,
  type,
  engines,
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
  dependencies,
};
writeFileSync(new URL('dist/package.json', client), `${JSON.stringify(packageJson, null, 2)}\n`);
copyFileSync(new URL('README.md', client), new URL('dist/README.md', client));
copyFileSync(new URL('LICENSE', root), new URL('dist/LICENSE', client));
