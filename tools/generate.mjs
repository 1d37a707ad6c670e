// npm run generate: writes the generated files. npm run check fails if one of them is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { root, prepare } from './prepare.mjs';
import { printAccessPage } from './access-page.mjs';
import { printEventData } from './client-events.mjs';
import { printIdentityKeys } from './identity-keys.mjs';
import { printPage } from './pages.mjs';

/** Returns the stale generated files of a directory, and optionally writes them. */
export async function generate({ write, directory = root }) {
  const files = await printFiles(directory);
  const stale = Object.keys(files).filter(
    (path) => !existsSync(directory + path) || readFileSync(directory + path, 'utf8') !== files[path],
  );
  if (write) {
    mkdirSync(`${directory}docs`, { recursive: true });
    mkdirSync(`${directory}deploy/helm`, { recursive: true });
    for (const path of stale) writeFileSync(directory + path, files[path]);
  }
  return stale;
}

/** Returns the content of all generated files by path. Pages with generated parts keep their other content. */
async function printFiles(directory) {
  const openApi = await describeApi();
  const identityKeys = await printIdentityModule();
  return {
    'deploy/helm/variables.json': await printChartVariables(),
    'deploy/nats-accounts.conf': await printNatsConfig(),
    'docs/access.md': await formatMarkdown(printAccessPage(openApi)),
    'docs/openapi.json': `${JSON.stringify(openApi, null, 2)}\n`,
    'docs/asyncapi.json': await printAsyncApi(),
    'docs/events.md': await printPage(`${directory}docs/events.md`),
    'docs/live.md': await printPage(`${directory}docs/live.md`),
    'docs/metrics.md': await printPage(`${directory}docs/metrics.md`),
    'docs/operations.md': await printOperations(directory),
    'libs/client/README.md': printClientReadme(directory),
    'libs/client/src/event-data.ts': await printClientEvents(),
    'libs/contracts/src/events/identity-keys.ts': identityKeys,
    'libs/platforms/src/twitch/catalogue/event-examples.json': await printEventExamples(),
    'libs/sentences/src/identity-keys.ts': identityKeys,
  };
}

/** Returns the simulated platform's example event for each type and version. Every run returns the same examples. */
async function printEventExamples() {
  const { World } = await import('../apps/platform-simulator/dist/world/world.js');
  const { eventTypes } = await import('../libs/platforms/dist/index.js');
  const world = new World('examples');
  const [{ broadcaster }] = world.channels;
  const now = new Date('2026-08-02T20:00:00.000Z');
  const examples = eventTypes.map(({ type, version }) => [
    `${type}/${version}`,
    world.describeEvent({ type, version, broadcasterId: broadcaster.id }, now).event,
  ]);
  const prettier = await import('prettier');
  return prettier.format(JSON.stringify(Object.fromEntries(examples)), { parser: 'json', printWidth: 110 });
}

/** Returns the TypeScript types of the platform's events, for the client. */
async function printClientEvents() {
  const { eventTypes, schemaOf } = await import('../libs/platforms/dist/index.js');
  return formatTypeScript(printEventData(eventTypes, schemaOf));
}

/** Returns the keys that identify users as a module. Each library that may not import the platforms gets a copy. */
async function printIdentityModule() {
  const table = readFileSync(`${root}libs/platforms/src/twitch/catalogue/identity-keys.json`, 'utf8');
  return formatTypeScript(printIdentityKeys(JSON.parse(table)));
}

async function formatTypeScript(text) {
  const prettier = await import('prettier');
  const options = await prettier.resolveConfig(`${root}tools/generate.mjs`);
  return prettier.format(text, { ...options, parser: 'typescript' });
}

async function formatMarkdown(text) {
  const prettier = await import('prettier');
  return prettier.format(text, { parser: 'markdown' });
}

async function describeApi() {
  const { printOpenApi } = await import('../apps/gateway/dist/gateway.description.js');
  return printOpenApi();
}

/** Returns the client's README with its examples inserted. The examples are files that tests run. */
function printClientReadme(directory) {
  const readme = readFileSync(`${directory}libs/client/README.md`, 'utf8');
  const example = /(<!-- example: (\S+) -->\n)[^]*?(<!-- example: end -->)/g;
  return readme.replace(example, (_whole, begin, name, end) => {
    const code = readFileSync(`${root}libs/client/examples/${name}`, 'utf8');
    return `${begin}\n\`\`\`js\n${code}\`\`\`\n\n${end}`;
  });
}

async function printAsyncApi() {
  const { printAsyncApi } = await import('../apps/gateway/dist/gateway.description.js');
  return `${JSON.stringify(await printAsyncApi(), null, 2)}\n`;
}

/** Returns the accounts, users, and permissions for a nats-server, which reads the passwords from its environment. */
async function printNatsConfig() {
  const { natsUsers } = await import('../libs/contracts/dist/index.js');
  const { renderAccounts } = await import('../libs/embedded/dist/index.js');
  const users = Object.values(natsUsers).map((user) => {
    const name = (user.passwordOf ?? user.name).toUpperCase().replaceAll('-', '_');
    return { ...user, password: `$NATS_${name}_PASSWORD` };
  });
  const prettier = await import('prettier');
  const accounts = await prettier.format(JSON.stringify(renderAccounts(users)), { parser: 'json' });
  return [
    '# Generated by npm run generate from libs/contracts/src/nats-permissions.ts: users of NATS and their permissions. Passwords come from the environment.',
    'jetstream { store_dir: "/data" }',
    // Remove the quotes: nats-server would use a quoted variable name as the password.
    `accounts ${accounts.trim().replaceAll(/"(\$NATS_[A-Z_]+_PASSWORD)"/g, '$1')}`,
    '',
  ].join('\n');
}

/**
 * Returns each service's environment variables for the Helm chart: the plain ones, the secret ones with their keys in the Secret, and the
 * required ones. The URLs of each service have their own keys, because every service has its own database role and NATS user.
 */
async function printChartVariables() {
  const prettier = await import('prettier');
  const services = Object.fromEntries(
    (await importServices()).map(({ name, variables }) => {
      const names = Object.keys(variables);
      const keyOf = (variable) =>
        ['DATABASE_URL', 'NATS_URL'].includes(variable)
          ? `${name.toUpperCase().replaceAll('-', '_')}_${variable}`
          : variable;
      const secrets = names.filter((variable) => variables[variable].isSecret);
      return [
        name,
        {
          plain: names.filter((variable) => !variables[variable].isSecret),
          secret: Object.fromEntries(secrets.map((variable) => [variable, keyOf(variable)])),
          required: names.filter((variable) => !('defaultValue' in variables[variable])),
        },
      ];
    }),
  );
  const roles = Object.values(services).map(({ secret }) => secret.DATABASE_URL);
  return prettier.format(JSON.stringify({ services, roles }), { parser: 'json' });
}

/** Returns the services that the Helm chart runs. */
async function importServices() {
  return [
    (await import('../apps/gateway/dist/gateway.app.js')).gateway,
    (await import('../apps/events/dist/events.app.js')).events,
    (await import('../apps/platform-connector/dist/platform-connector.app.js')).platformConnector,
    (await import('../apps/streamer-monitor/dist/streamer-monitor.app.js')).streamerMonitor,
  ];
}

async function printOperations(directory) {
  const begin = '<!-- configuration: generated by npm run generate -->';
  const end = '<!-- configuration: end -->';
  const page = readFileSync(`${directory}docs/operations.md`, 'utf8');
  const [before, rest = ''] = page.split(begin);
  const after = rest.split(end)[1];
  if (after === undefined)
    throw new Error('docs/operations.md lacks the markers around its configuration table');
  return `${before}${begin}\n\n${await printConfiguration()}\n\n${end}${after}`;
}

/** Returns the declarations of the environment variables, by app. */
async function loadVariables() {
  const [gateway, events, connector, monitor] = await importServices();
  return {
    gateway: gateway.variables,
    events: events.variables,
    connector: connector.variables,
    monitor: monitor.variables,
    simulator: (await import('../apps/platform-simulator/dist/platform-simulator.app.js')).platformSimulator
      .variables,
    'npm start': (await import('../apps/all-in-one/dist/all-in-one.config.js')).variables,
  };
}

/** Returns the table of environment variables, generated from the apps' declarations. */
async function printConfiguration() {
  const rows = new Map();
  for (const [app, variables] of Object.entries(await loadVariables())) {
    for (const [name, variable] of Object.entries(variables)) {
      const row = rows.get(name) ?? { variable, defaults: new Map(), apps: [] };
      row.defaults.set(app, printDefault(variable));
      row.apps.push(app);
      rows.set(name, row);
    }
  }
  const lines = [...rows].map(([name, row]) => {
    const secret = row.variable.isSecret ? ` Secret: also as \`${name}_FILE\`.` : '';
    return `| \`${name}\` | ${printDefaults(row.defaults)} | ${row.apps.join(', ')} | ${row.variable.description}.${secret} |`;
  });
  const table = ['| variable | default | read by | meaning |', '| --- | --- | --- | --- |', ...lines].join(
    '\n',
  );
  return (await formatMarkdown(table)).trim();
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Do not build the pages: they use types that this script generates, so the build fails if these types are stale.
  prepare(['--exclude=tag:type:page']);
  const stale = await generate({ write: true });
  process.stdout.write(
    stale.length > 0 ? `Written: ${stale.join(', ')}\n` : 'All generated files were up to date.\n',
  );
}
