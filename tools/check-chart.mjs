// npm run check:chart: lints the Helm chart, renders it with every file in deploy/helm/ci, and validates the result against the Kubernetes
// schemas. Needs Python for the schemas, and helm, or pip or Go to install it. Keeps helm and the schemas in the user's cache.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChartFaults } from './chart-faults.mjs';
import { findHelm, isInstalled, toolCache } from './helm.mjs';
import { install, root } from './prepare.mjs';

const schemasVersion = '1.37.0';
// The oldest Kubernetes version that the chart supports, and the newest one with published schemas.
const kubernetesVersions = ['1.30', '1.37'];
const chart = `${root}deploy/helm`;

// By default, Helm renders for an old version of Kubernetes.
const render = ['template', 'events', chart, '--kube-version', kubernetesVersions.at(-1)];

const isOptional = process.argv.includes('--if-possible');

install();
const helm = findHelm(skip);
const python = findSchemas();
const { parseAllDocuments } = await import('yaml');

for (const name of readdirSync(`${chart}/ci`)) {
  const values = `${chart}/ci/${name}`;
  run(helm, [
    'lint',
    '--strict',
    '--quiet',
    chart,
    '--values',
    values,
    '--kube-version',
    kubernetesVersions[0],
  ]);
  const text = run(helm, [...render, '--namespace', 'streams', '--values', values]);
  const resources = parse(text);
  const faults = [...findChartFaults(resources, readVariables()), ...validate(text)];
  if (faults.length > 0) fail(`deploy/helm/ci/${name} renders faults:\n${faults.join('\n')}`);
  process.stdout.write(`deploy/helm/ci/${name}: ${resources.length} resources, no faults\n`);
}
checkTestServers();
checkRefusals();
process.stdout.write(
  `The chart passes helm lint ${run(helm, ['version', '--template', '{{.Version}}'])} and the schemas of Kubernetes ${kubernetesVersions.join(' and ')}.\n`,
);

/**
 * Checks only that the test servers' chart is valid. This chart is not part of the service, so the rules in chart-faults.mjs do not apply.
 */
function checkTestServers() {
  const values = [
    '--set',
    'existingSecret=test-servers',
    '--set-file',
    `natsConfig=${root}deploy/nats-accounts.conf`,
  ];
  const servers = `${root}deploy/helm-test-servers`;
  run(helm, ['lint', '--strict', '--quiet', servers, ...values, '--kube-version', kubernetesVersions[0]]);
  const text = run(helm, [
    'template',
    'test',
    servers,
    ...values,
    '--kube-version',
    kubernetesVersions.at(-1),
  ]);
  const faults = validate(text);
  if (faults.length > 0) fail(`deploy/helm-test-servers renders faults:\n${faults.join('\n')}`);
}

/** Checks that the chart refuses invalid values, and that both validations find planted faults. */
function checkRefusals() {
  const minimal = ['--values', `${chart}/ci/minimal.yaml`];
  const refusals = {
    'existingSecret is required': [],
    'config.RETENTION_DAY is not an environment variable': [...minimal, '--set', 'config.RETENTION_DAY=1'],
    'config.SECRET_KEY is a secret': [...minimal, '--set', 'config.SECRET_KEY=abc'],
    'config.PORT is set by the chart': [...minimal, '--set', 'config.PORT=80'],
  };
  for (const [message, args] of Object.entries(refusals)) {
    const { status, stderr } = spawnSync(helm, [...render, ...args], { encoding: 'utf8' });
    if (status === 0 || !stderr.includes(message))
      fail(`The chart must refuse ${args.join(' ')}: ${message}`);
  }
  const text = run(helm, [...render, ...minimal]);
  if (validate(text.replaceAll('containerPort:', 'containerPorts:')).length === 0)
    fail('The validation does not work: it accepts a Deployment with an unknown field.');
  const plantedFaults = [
    ['readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false'],
    ['restartPolicy: Never', 'restartPolicy: OnFailure'],
    ['helm.sh/hook-weight: "-20"', 'helm.sh/hook-weight: "0"'],
  ];
  for (const [right, wrong] of plantedFaults)
    if (findChartFaults(parse(text.replaceAll(right, wrong)), readVariables()).length === 0)
      fail(`The rules for the chart do not work: they accept ${wrong}.`);
}

/**
 * Returns the faults that the schemas of all versions find. Skips the PodMonitor, which belongs to the Prometheus operator and has no
 * Kubernetes schema.
 */
function validate(text) {
  const directory = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    const known = text
      .split(/^---$/m)
      .filter((part) => !/^kind: PodMonitor$/m.test(part) && /^kind: /m.test(part));
    const file = join(directory, 'resources.yaml');
    writeFileSync(file, known.join('\n---\n'));
    return kubernetesVersions.flatMap((version) => {
      const args = ['-m', 'kubernetes_validate', '--strict', '--quiet', '-k', version, file];
      const { status, stdout, stderr } = spawnSync(python, args, { encoding: 'utf8' });
      return status === 0 ? [] : [`Kubernetes ${version}: ${stdout}${stderr}`];
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function parse(text) {
  return parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((resource) => resource);
}

function readVariables() {
  return JSON.parse(readFileSync(`${chart}/variables.json`, 'utf8'));
}

/** Returns the path of a Python with the schemas. Installs missing schemas. */
function findSchemas() {
  const environment = join(toolCache, `kubernetes-validate-${schemasVersion}`);
  const found = join(environment, 'bin/python');
  if (isInstalled(found, ['-c', 'import kubernetes_validate'])) return found;
  if (!isInstalled('python3', ['-c', 'import venv, ensurepip']))
    skip('The check needs Python 3 with venv and pip.');
  run('python3', ['-m', 'venv', environment]);
  const wanted = `kubernetes-validate==${schemasVersion}`;
  if (spawnSync(found, ['-m', 'pip', 'install', '--quiet', wanted], { stdio: 'inherit' }).status !== 0)
    skip('pip cannot install the schemas: see above.');
  return found;
}

function run(command, args, options = {}) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, ...options });
  } catch (error) {
    return fail(`${command} ${args.join(' ')} failed:\n${error.stdout ?? ''}${error.message}`);
  }
}

/** Exits without a check because a tool cannot be installed. The exit code is 1, or 0 with --if-possible. */
function skip(reason) {
  process.stdout.write(`The Helm chart is not checked. ${reason}\n`);
  process.exit(isOptional ? 0 : 1);
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
