// Checks that every environment variable and metric in the documentation exists in the code. The generated tables in docs/operations.md and
// docs/metrics.md ensure the reverse. The tests in e2e/monitoring check the alerts.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { loadVariables } from './generate.mjs';
import { listMetrics } from './metrics.mjs';
import { root } from './prepare.mjs';

/** Matches prefixes that only metric names have. */
const metricPrefix =
  /^(gateway|live|streamer_monitor|platform_connector|nats_handled|nats_sent|stream_consumer|database_pool|http_request)_/;
const metricSuffix = /_(total|seconds|bytes|ratio)$/;
/** Matches names that can begin like a metric but are not metrics: indexes, and two-word names, such as schemas. */
const otherNames = /_index$|^[a-z]+_[a-z]+$/;

/** Returns the unknown names in the documentation, as `<page>: <name>`. */
export async function findUnknownNames(pages = readPages()) {
  const isVariable = await knowVariables();
  const isMetric = await knowMetrics();
  return [...pages].flatMap(([page, text]) => {
    const names = [...text.matchAll(/`([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)(?:[={][^`]*)?`/g)].map(
      ([, name]) => name,
    );
    const unknown = names.filter((name) =>
      /^[A-Z0-9_]+$/.test(name) ? !isVariable(name) : /^[a-z0-9_]+$/.test(name) && !isMetric(name),
    );
    return [...new Set(unknown)].map((name) => `${page}: ${name}`);
  });
}

/** Returns the text of the pages by path. */
function readPages() {
  const folders = ['', 'docs/', 'docs/decisions/', 'deploy/helm/'].filter((folder) =>
    existsSync(root + folder),
  );
  const paths = folders.flatMap((folder) =>
    readdirSync(root + folder)
      // Skip the changelog, which contains names that no longer exist.
      .filter((file) => file.endsWith('.md') && file !== 'CHANGELOG.md')
      .map((file) => folder + file),
  );
  return new Map(paths.map((path) => [path, readFileSync(root + path, 'utf8')]));
}

/** Returns a predicate for known variables: those of the services, docker-compose.yml, the chart, and the scripts in deploy. */
async function knowVariables() {
  // libs/embedded reads this variable of pip.
  const known = new Set(['PIP_INDEX_URL']);
  for (const variables of Object.values(await loadVariables()))
    for (const [name, { isSecret }] of Object.entries(variables)) {
      known.add(name);
      if (isSecret) known.add(`${name}_FILE`);
    }
  const scripts = readdirSync(`${root}deploy`, { recursive: true }).filter((path) =>
    /\.(sh|ya?ml|conf|json)$/.test(path),
  );
  for (const path of ['docker-compose.yml', ...scripts.map((script) => `deploy/${script}`)])
    for (const [, name] of readFileSync(root + path, 'utf8').matchAll(/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g))
      known.add(name);
  return (name) => known.has(name);
}

/**
 * Returns a predicate that accepts known metrics, names that do not look like metrics, and API fields, which can look like metrics.
 */
async function knowMetrics() {
  const metrics = new Set((await listMetrics()).map(({ name }) => name));
  const subjects = new Set([...metrics].map(subjectOf));
  const fields = readFileSync(`${root}docs/openapi.json`, 'utf8');
  return (name) =>
    metrics.has(name) ||
    metrics.has(name.replace(/_(bucket|sum|count)$/, '')) ||
    !(
      metricPrefix.test(name) ||
      metricSuffix.test(name) ||
      (subjects.has(subjectOf(name)) && !otherNames.test(name))
    ) ||
    new RegExp(`["\`]${name}["\`]`).test(fields);
}

/** Returns the first two words of a metric, which name its subject: `events_outbox` for `events_outbox_batches`. */
function subjectOf(name) {
  return name.split('_', 2).join('_');
}
