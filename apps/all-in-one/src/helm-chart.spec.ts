import { readdirSync, readFileSync } from 'node:fs';
import { events } from '@stream-events/events';
import { gateway } from '@stream-events/gateway';
import { platformConnector } from '@stream-events/platform-connector';
import { loadConfig, version, type Variables } from '@stream-events/service';
import { streamerMonitor } from '@stream-events/streamer-monitor';
import { parse } from 'yaml';

interface ServiceVariables {
  plain: string[];
  /** The key in the Kubernetes Secret, by secret variable. */
  secret: Record<string, string>;
  required: string[];
}

const chart = 'deploy/helm';
const services = [gateway, events, platformConnector, streamerMonitor];
const declared = new Map<string, Variables>(services.map(({ name, variables }) => [name, variables]));

/** The chart's templates set these variables to fixed values. */
const setByTemplates = { HOST: '0.0.0.0', PORT: '8000', ADMIN_PORT: '9000' };

// Safe casts: both files are part of this repository.
const given = JSON.parse(readFileSync(`${chart}/variables.json`, 'utf8')) as {
  services: Record<string, ServiceVariables>;
  roles: string[];
};
const values = parse(readFileSync(`${chart}/values.yaml`, 'utf8')) as {
  config: Record<string, string>;
  services: Record<string, unknown>;
};

describe('the Helm chart', () => {
  it('runs the services that have a database', () => {
    expect(Object.keys(values.services).sort()).toEqual([...declared.keys()].sort());
    expect(Object.keys(given.services).sort()).toEqual([...declared.keys()].sort());
  });

  it.each([...declared])('sets only variables that %s reads', (name, variables) => {
    const { plain, secret } = variablesOf(name);
    expect([...plain, ...Object.keys(secret)].sort()).toEqual(Object.keys(variables).sort());
    for (const variable of Object.keys(secret)) expect(variables[variable]?.isSecret).toBe(true);
  });

  it.each([...declared])('sets every variable that %s requires', (name, variables) => {
    const { plain, secret } = variablesOf(name);
    const set = { ...setByTemplates, ...values.config };
    const fromValues = Object.entries(set).filter(([variable]) => plain.includes(variable));
    const environment = {
      ...Object.fromEntries(fromValues),
      // The Secret has no defaults. Use any valid values.
      ...Object.fromEntries(Object.keys(secret).map((variable) => [variable, secretValues[variable]])),
    };
    expect(() => loadConfig(variables, environment)).not.toThrow();
    for (const variable of variablesOf(name).required)
      expect(() => loadConfig(variables, { ...environment, [variable]: '' })).toThrow(variable);
  });

  it('sets the variables of the templates in its helpers, and no others', () => {
    const helpers = readFileSync(`${chart}/templates/_helpers.tpl`, 'utf8');
    const [, list = ''] = /merge \(dict ([^)]*)\)/.exec(helpers) ?? [];
    const pairs = Object.entries(setByTemplates).map(([variable, value]) => `"${variable}" "${value}"`);
    expect(list).toBe(pairs.join(' '));
    const inTemplates = readdirSync(`${chart}/templates`)
      .filter((file) => file !== '_helpers.tpl')
      .flatMap(
        (file) => readFileSync(`${chart}/templates/${file}`, 'utf8').match(/name: [A-Z][A-Z_]+/g) ?? [],
      );
    // The only other variable is the superuser's URL. The hook that creates the roles needs it.
    expect(inTemplates).toEqual(['name: DATABASE_URL']);
  });

  it('gives every service a database role and a NATS user of its own', () => {
    const keys = services.flatMap(({ name }) => {
      const { DATABASE_URL, NATS_URL } = variablesOf(name).secret;
      return [DATABASE_URL, NATS_URL];
    });
    expect(new Set(keys).size).toBe(2 * services.length);
    expect(given.roles).toEqual(services.map(({ name }) => variablesOf(name).secret.DATABASE_URL));
  });

  it('has the version of the services', () => {
    const { version: chartVersion, appVersion } = parse(
      readFileSync(`${chart}/Chart.yaml`, 'utf8'),
    ) as Record<string, string>;
    expect([chartVersion, appVersion]).toEqual([version, version]);
  });
});

function variablesOf(service: string): ServiceVariables {
  const variables = given.services[service];
  if (!variables) throw new Error(`variables.json lacks ${service}`);
  return variables;
}

const secretValues: Record<string, string> = {
  DATABASE_URL: 'postgres://role:password@postgres/stream_events',
  NATS_URL: 'nats://user:password@nats:4222',
  SECRET_KEY: 'a key of at least 32 characters for tests',
};
