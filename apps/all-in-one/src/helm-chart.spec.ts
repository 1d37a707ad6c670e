import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { events } from '@stream-events/events';
import { gateway } from '@stream-events/gateway';
import { platformConnector } from '@stream-events/platform-connector';
import { loadConfig, version, type Variables } from '@stream-events/service';
import { streamerMonitor } from '@stream-events/streamer-monitor';
import { parse, parseAllDocuments } from 'yaml';

interface ServiceVariables {
  plain: string[];
  /** The key in the Kubernetes Secret, by secret variable. */
  secret: Record<string, string>;
  required: string[];
}

interface Pod {
  containers: { name: string; env: { name: string; value?: string }[]; securityContext: object }[];
}

const chart = 'deploy/helm';
const services = [gateway, events, platformConnector, streamerMonitor];
const declared = new Map<string, Variables>(services.map(({ name, variables }) => [name, variables]));

/** The chart's templates set these variables to fixed values. */
const setByTemplates = { HOST: '0.0.0.0', PORT: '8000', ADMIN_PORT: '9000' };

// Safe casts: both files are part of this repository.
const given = JSON.parse(readFileSync(`${chart}/variables.json`, 'utf8')) as {
  services: Record<string, ServiceVariables>;
};
const values = parse(readFileSync(`${chart}/values.yaml`, 'utf8')) as {
  config: Record<string, string>;
  services: Record<string, unknown>;
};

describe('the Helm chart', () => {
  it('runs the services that have a database', () => {
    expect(Object.keys(values.services).sort()).toEqual([...declared.keys()].sort());
  });

  it.each([...declared])('sets every variable that %s requires', (name, variables) => {
    const { secret } = variablesOf(name);
    const environment = {
      ...plainValuesOf(name),
      // The Secret has no defaults. Use any valid values.
      ...Object.fromEntries(Object.keys(secret).map((variable) => [variable, secretValues[variable]])),
    };
    expect(() => loadConfig(variables, environment)).not.toThrow();
    for (const variable of variablesOf(name).required)
      expect(() => loadConfig(variables, { ...environment, [variable]: '' })).toThrow(variable);
  });

  const { error: isMissing } = spawnSync('helm', ['version']);
  const itWithHelm = isMissing ? it.skip : it;
  const reason = isMissing ? ' (skipped: helm is not installed)' : '';

  itWithHelm(`gives pods few rights, and secrets only as references${reason}`, () => {
    const pods = renderPods();

    expect(pods.length).toBeGreaterThan(services.length);
    for (const { containers, ...pod } of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const { name, env, securityContext } of containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        const plain = env.filter(({ value }) => value !== undefined);
        expect(Object.fromEntries(plain.map((variable) => [variable.name, variable.value]))).toEqual(
          declared.has(name) ? plainValuesOf(name) : {},
        );
      }
    }
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

/** Returns the variables that a service gets from the templates and the default values. */
function plainValuesOf(service: string): Record<string, string> {
  const { plain } = variablesOf(service);
  const set = Object.entries({ ...setByTemplates, ...values.config });
  return Object.fromEntries(set.filter(([variable]) => plain.includes(variable)));
}

function renderPods(): Pod[] {
  const { stdout } = spawnSync('helm', ['template', 'test', chart, '--values', `${chart}/ci/minimal.yaml`], {
    encoding: 'utf8',
  });
  // Safe cast: `npm run check:chart` checks that the templates are valid, and the tests read only what each pod has.
  const resources = parseAllDocuments(stdout).map(
    (document) => document.toJS() as { spec?: { template?: { spec: Pod } } },
  );
  return resources.flatMap(({ spec }) => spec?.template?.spec ?? []);
}

const secretValues: Record<string, string> = {
  DATABASE_URL: 'postgres://role:password@postgres/stream_events',
  NATS_URL: 'nats://user:password@nats:4222',
  SECRET_KEY: 'a key of at least 32 characters for tests',
};
