// Prints the generated parts of the pages in docs. A part is between `<!-- generated: <what> -->` and `<!-- generated: end -->`.
import { readFileSync } from 'node:fs';
import { root } from './prepare.mjs';

const parts = /<!-- generated: (?!end)(?<what>.+) -->[^]*?<!-- generated: end -->/g;

/** Returns the text of a page with up-to-date generated parts. */
export async function printPage(page) {
  const printed = await Promise.all([...page.matchAll(parts)].map(({ groups }) => printPart(groups.what)));
  return page.replace(
    parts,
    (_, what) => `<!-- generated: ${what} -->\n\n${printed.shift()}\n\n<!-- generated: end -->`,
  );
}

async function printPart(what) {
  const [kind, file] = what.split(' ');
  if (kind === 'consumer') return printCode('ts', `// ${file}\n`, `apps/all-in-one/e2e/consuming/${file}`);
  if (kind === 'example') return printCode('js', '', `libs/client/examples/${file}`);
  const contracts = await import('../libs/contracts/dist/index.js');
  const print = {
    configuration: printConfiguration,
    filters: () => printTexts(['filter', 'matches'], contracts.eventFilters, 'description'),
    'gap reasons': async () =>
      printTexts(['reason', 'meaning'], (await importLive('gap-reasons')).gapReasons),
    'close codes': printCloseCodes,
    controls: () => printTexts(['control', 'meaning'], contracts.liveControls),
    limits: printLimits,
    metrics: printMetrics,
  }[what];
  if (!print) throw new Error(`tools/pages.mjs has no generator for "${what}"`);
  return print();
}

/** Prints the text of each key of an object. With a field, the texts are in this field of the values. */
function printTexts(head, object, field) {
  const rows = Object.entries(object).map(([key, value]) => [`\`${key}\``, field ? value[field] : value]);
  return printTable(head, rows);
}

async function printCloseCodes() {
  const { closeCodes } = await importLive('close-codes');
  const rows = Object.values(closeCodes).map(({ code, text }) => [code, text]);
  return printTable(['code', 'meaning'], rows);
}

/** Prints an example program, which a test runs. */
function printCode(language, heading, path) {
  return `\`\`\`${language}\n${heading}${readFileSync(root + path, 'utf8')}\`\`\``;
}

/** Returns the services that the Helm chart runs. */
export async function loadServices() {
  return [
    (await import('../apps/gateway/dist/gateway.app.js')).gateway,
    (await import('../apps/events/dist/events.app.js')).events,
    (await import('../apps/platform-connector/dist/platform-connector.app.js')).platformConnector,
    (await import('../apps/streamer-monitor/dist/streamer-monitor.app.js')).streamerMonitor,
  ];
}

/** Prints the table of environment variables from the apps' declarations. */
async function printConfiguration() {
  const [gateway, events, connector, monitor] = await loadServices();
  const { platformSimulator: simulator } =
    await import('../apps/platform-simulator/dist/platform-simulator.app.js');
  const allInOne = await import('../apps/all-in-one/dist/all-in-one.config.js');
  const apps = { gateway, events, connector, monitor, simulator, 'npm start': allInOne };
  const rows = new Map();
  for (const [app, { variables }] of Object.entries(apps))
    for (const [name, variable] of Object.entries(variables)) {
      const row = rows.get(name) ?? { variable, defaults: new Map() };
      row.defaults.set(app, printDefault(variable));
      rows.set(name, row);
    }
  const cells = [...rows].map(([name, { variable, defaults }]) => {
    const secret = variable.isSecret ? ` Secret: also as \`${name}_FILE\`.` : '';
    return [
      `\`${name}\``,
      printDefaults(defaults),
      [...defaults.keys()].join(', '),
      `${variable.description}.${secret}`,
    ];
  });
  return printTable(['variable', 'default', 'read by', 'meaning'], cells);
}

function printDefaults(defaults) {
  const texts = new Set(defaults.values());
  if (texts.size === 1) return [...texts][0];
  return [...defaults].map(([app, text]) => `${app}: ${text}`).join('; ');
}

function printDefault(variable) {
  if (variable.defaultText) return variable.defaultText;
  if (!('defaultValue' in variable)) return 'required';
  const value = variable.defaultValue;
  return value === undefined ? 'none' : `\`${[value].flat().join(',')}\``;
}

async function printLimits() {
  const limits = await importLive('live-limits');
  const { catchUpLimits, connectionLimits, keepAliveMs, maxBufferedBytes, webSocketLimits } = limits;
  const { rehearsalLimits } = await import('../apps/gateway/dist/rehearsals/rehearsal-limits.js');
  const { namedTokenShare, shareOf } = await import('../apps/gateway/dist/access/caller.js');
  const ofToken = ({ perUser }) => shareOf(perUser, { share: namedTokenShare });
  const print = (number) => number.toLocaleString('en');
  return printTable(
    ['what', 'limit'],
    [
      ['connections per user, at each gateway', print(connectionLimits.perUser)],
      ['connections per named token, at each gateway', print(ofToken(connectionLimits))],
      ['concurrent catch-ups per user, at each gateway', print(catchUpLimits.perUser)],
      ['concurrent catch-ups per named token, at each gateway', print(ofToken(catchUpLimits))],
      ['messages that a catch-up reads per second', print(catchUpLimits.messagesPerSecond)],
      ['connections per gateway', print(connectionLimits.connections)],
      ['data that waits for one slow client', `${maxBufferedBytes / 1024 ** 2} MiB`],
      ['time between keep-alives', `${keepAliveMs / 1_000} s`],
      ['time for a WebSocket client to send its token', `${webSocketLimits.tokenMs / 1_000} s`],
      ['WebSockets without a token yet, per gateway', print(webSocketLimits.waiting.total)],
      ['WebSockets without a token yet, per client address', print(webSocketLimits.waiting.perAddress)],
      ['size of a client’s message', `${limits.maxMessageBytes / 1024} KiB`],
      ['messages, pings, and pongs of a WebSocket client per minute', print(limits.maxFramesPerMinute)],
      ['concurrent rehearsals to the connections of one user', print(rehearsalLimits.perUser)],
      ['concurrent rehearsals to the connections of all users', print(rehearsalLimits.total)],
      ['events per second of a rehearsal', print(rehearsalLimits.eventsPerSecond)],
    ],
  );
}

/** The projects with metrics, by the title of their table. */
const meteredProjects = {
  Gateway: ['apps/gateway'],
  'Events service': ['apps/events'],
  'Platform connector': ['apps/platform-connector'],
  'Streamer monitor': ['apps/streamer-monitor'],
  'Several services': ['libs/database', 'libs/ingest', 'libs/messaging', 'libs/service'],
};

/** Prints the declared metrics as one table per service. A test compares the page with the exported metrics. */
async function printMetrics() {
  const { collectDefaultMetrics, Registry } = await import('prom-client');
  const sections = [];
  for (const [title, projects] of Object.entries(meteredProjects)) {
    const modules = await Promise.all(projects.map((path) => import(`../${path}/dist/metrics.js`)));
    sections.push([title, modules.flatMap((module) => Object.values(module).flatMap(Object.values))]);
  }
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  sections.push(['Every process', registry.getMetricsAsArray()]);
  return sections.map(([title, metrics]) => `### ${title}\n\n${printMetricTable(metrics)}`).join('\n\n');
}

function printMetricTable(metrics) {
  const sorted = metrics.sort((one, other) => (one.name < other.name ? -1 : 1));
  const rows = sorted.map(({ name, type, labels, labelNames = labels, help }) => {
    return [`\`${name}\``, type, labelNames.map((label) => `\`${label}\``).join(', '), help];
  });
  return printTable(['metric', 'type', 'labels', 'meaning'], rows);
}

function importLive(file) {
  return import(`../apps/gateway/dist/live/${file}.js`);
}

function printTable(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return lines.join('\n').replaceAll('  ', ' '); // an empty cell has one space
}
