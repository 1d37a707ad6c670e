// Reads the SBOM (CycloneDX) of the lock file from standard input, and prints it with only the installed packages. `npm sbom --omit=dev`
// does not replace this script: it omits packages that production needs, such as pg-protocol (npm 11.21).
import { readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

// Matches the package.json at the root of a package, but not those in its subfolders.
const packageFile = /(^|\/node_modules\/)(@[^/]+\/)?[^/]+\/package\.json$/;

const installed = new Set(
  readdirSync('node_modules', { recursive: true })
    .filter((path) => packageFile.test(path))
    .map((path) => JSON.parse(readFileSync(`node_modules/${path}`, 'utf8')))
    .map(({ name, version }) => `${name}@${version}`),
);

const sbom = JSON.parse(await text(process.stdin));
const components = sbom.components.filter(({ group, name, version }) =>
  installed.has(`${group ? `${group}/` : ''}${name}@${version}`),
);
const references = new Set([sbom.metadata.component, ...components].map((component) => component['bom-ref']));
const dependencies = sbom.dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => references.has(other)) }));
process.stdout.write(JSON.stringify({ ...sbom, components, dependencies }));
