// Lists the metrics that the apps and libraries declare, for docs/metrics.md. A test compares the page with the exported metrics.

/** The projects with metrics, by the title of their table. */
const projects = {
  Gateway: ['apps/gateway'],
  'Events service': ['apps/events'],
  'Platform connector': ['apps/platform-connector'],
  'Streamer monitor': ['apps/streamer-monitor'],
  'Several services': ['libs/database', 'libs/ingest', 'libs/messaging', 'libs/service'],
};

/** Prints the metrics as one table per service. */
export async function printMetrics(printTable) {
  const tables = [];
  for (const [title, paths] of Object.entries(projects)) {
    const lists = await Promise.all(paths.map((path) => import(`../${path}/dist/metrics.js`)));
    const metrics = lists.flatMap((list) => Object.values(list).flatMap((named) => Object.values(named)));
    tables.push(printTableOf(title, metrics));
  }
  return [...tables, printTableOf('Every process', await listProcessMetrics())].join('\n\n');

  function printTableOf(title, metrics) {
    const rows = metrics
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, type, labels, help }) => [
        `\`${name}\``,
        type,
        labels.map((label) => `\`${label}\``).join(', '),
        help,
      ]);
    return `### ${title}\n\n${printTable(['metric', 'type', 'labels', 'meaning'], rows)}`;
  }
}

/** Returns the metrics of Node.js, which every process exports. */
async function listProcessMetrics() {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry.getMetricsAsArray().map(({ labelNames, ...metric }) => ({ ...metric, labels: labelNames }));
}
