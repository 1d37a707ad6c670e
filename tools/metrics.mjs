// Lists the metrics in the code, for docs/metrics.md and for the checks of alerts and dashboards. Each declaration is `new Counter | Gauge
// | Histogram({ name, help, labelNames })` with literal values, so that this script can read it without running a service.
import { readdirSync, readFileSync } from 'node:fs';
import { root } from './prepare.mjs';

const kinds = ['Counter', 'Gauge', 'Histogram'];
/** Units that a histogram's name may end with: Prometheus base units, and events. */
const histogramUnits = ['_seconds', '_bytes', '_events'];

/**
 * @returns {Promise<{ name: string, type: string, help: string, labels: string[], app: string }[]>} the metrics, sorted by name. `app` is
 * the folder in `apps`, `libs` for metrics of libraries, or `process` for metrics of Node.js
 */
export async function listMetrics() {
  const { default: ts } = await import('typescript');
  const declared = sourceFiles().flatMap((path) => findDeclarations(ts, path));
  const metrics = [...declared, ...(await listProcessMetrics())].sort((one, other) =>
    one.name < other.name ? -1 : 1,
  );
  const faults = findFaults(metrics);
  if (faults.length > 0) throw new Error(`Metrics with wrong declarations:\n${faults.join('\n')}`);
  return metrics;
}

function sourceFiles() {
  return ['apps', 'libs'].flatMap((folder) =>
    readdirSync(`${root}${folder}`).flatMap((project) => {
      const source = `${folder}/${project}/src`;
      if (['console', 'overlay', 'system-tests'].includes(project)) return [];
      return readdirSync(root + source, { recursive: true })
        .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
        .map((path) => `${source}/${path}`);
    }),
  );
}

function findDeclarations(ts, path) {
  const text = readFileSync(root + path, 'utf8');
  if (!/new (Counter|Gauge|Histogram)\b/.test(text)) return [];
  const found = [];
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    if (ts.isNewExpression(node) && kinds.includes(node.expression.getText())) found.push(read(ts, node));
    ts.forEachChild(node, visit);
  };
  visit(file);
  const [folder, project] = path.split('/');
  return found.map((metric) => ({ ...metric, app: folder === 'apps' ? project : 'libs', path }));
}

function read(ts, node) {
  const [options] = node.arguments ?? [];
  const properties = options && ts.isObjectLiteralExpression(options) ? options.properties : [];
  const valueOf = (name) =>
    properties.find((property) => ts.isPropertyAssignment(property) && property.name.getText() === name)
      ?.initializer;
  const [name, help, labels] = ['name', 'help', 'labelNames'].map(valueOf);
  const isLiteral =
    [name, help].every((each) => each && ts.isStringLiteralLike(each)) &&
    (!labels || (ts.isArrayLiteralExpression(labels) && labels.elements.every(ts.isStringLiteralLike)));
  if (!isLiteral) {
    const file = node.getSourceFile();
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    throw new Error(`${file.fileName}:${line + 1}: a metric needs a literal name, help, and labelNames`);
  }
  return {
    name: name.text,
    type: node.expression.getText().toLowerCase(),
    help: help.text,
    labels: labels ? labels.elements.map((element) => element.text) : [],
  };
}

/** Returns the metrics of Node.js, which every process exports. */
async function listProcessMetrics() {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry.getMetricsAsArray().map(({ name, type, help, labelNames }) => ({
    ...{ name, type, help, app: 'process', path: 'prom-client' },
    labels: labelNames,
  }));
}

/** Returns the metrics that break the naming rules of Prometheus or are declared twice. */
function findFaults(metrics) {
  return metrics.flatMap(({ name, type, help, app, path }, index) => {
    const say = (isFault, text) => (isFault ? [`${path}: ${name} ${text}`] : []);
    if (app === 'process') return [];
    return [
      ...say(!/^[a-z][a-z0-9_]*$/.test(name), 'must consist of lower-case letters, digits, and underscores'),
      ...say(
        (type === 'counter') !== name.endsWith('_total'),
        'must end with _total if it is a counter, and only then',
      ),
      ...say(
        type === 'histogram' && !histogramUnits.some((unit) => name.endsWith(unit)),
        `must end with its unit: ${histogramUnits.join(', ')}`,
      ),
      ...say(/_(ms|milliseconds|minutes|kb|mb|megabytes)(_total)?$/.test(name), 'must use a base unit'),
      ...say(help.length < 10 || help.endsWith('.'), 'needs a help text without a period at its end'),
      ...say(
        metrics.some((other, at) => at < index && other.name === name),
        'is declared twice',
      ),
    ];
  });
}

const titles = {
  gateway: 'Gateway',
  events: 'Events service',
  'platform-connector': 'Platform connector',
  'streamer-monitor': 'Streamer monitor',
  'platform-simulator': 'Platform simulator',
  libs: 'Several services',
  process: 'Every process',
};

/** Prints the metrics as one table per service. */
export async function printMetrics(printTable) {
  const metrics = await listMetrics();
  const tables = Object.entries(titles).flatMap(([app, title]) => {
    const rows = metrics.filter((metric) => metric.app === app);
    if (rows.length === 0) return [];
    const cells = rows.map(({ name, type, labels, help }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', '),
      help,
    ]);
    return [`### ${title}\n\n${printTable(['metric', 'type', 'labels', 'meaning'], cells)}`];
  });
  const unknown = metrics.filter(({ app }) => !(app in titles));
  if (unknown.length > 0) throw new Error(`tools/metrics.mjs has no title for ${unknown[0].app}`);
  return tables.join('\n\n');
}
