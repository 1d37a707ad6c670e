// Prints the list of the installed packages (SBOM, CycloneDX) from the list of all packages of the lock file, which it reads from
// standard input. `npm sbom --omit=dev` would leave out packages that production needs, such as pg-protocol (npm 11.21).
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const sbom = JSON.parse(await text(process.stdin));

/** Where the package is installed, if it is. */
function isInstalled({ properties = [] }) {
  const path = properties.find(({ name }) => name === 'cdx:npm:package:path')?.value ?? '';
  return path.startsWith('node_modules/') && existsSync(path);
}

const components = sbom.components
  .filter(isInstalled)
  // These packages are only for development when the whole lock file is installed.
  .map(({ scope, ...component }) => ({ ...component, scope: scope === 'excluded' ? 'required' : scope }));
const references = new Set([
  sbom.metadata.component['bom-ref'],
  ...components.map((component) => component['bom-ref']),
]);
const dependencies = sbom.dependencies
  .filter(({ ref }) => references.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => references.has(other)) }));
process.stdout.write(JSON.stringify({ ...sbom, components, dependencies }));
