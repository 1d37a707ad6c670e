// npm run check:chart [-- --if-possible]: lints the Helm charts, and renders them with every file in deploy/helm/ci. Needs helm; with
// --if-possible, succeeds without it.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { root } from './prepare.mjs';

// The oldest supported version, and the newest one when the chart was last changed. By default, Helm renders for an old version.
const kubernetesVersions = ['1.30', '1.37'];

const charts = [
  ...readdirSync(`${root}deploy/helm/ci`).map((file) => [
    'deploy/helm',
    '--values',
    `deploy/helm/ci/${file}`,
  ]),
  [
    ...['deploy/helm-test-servers', '--set', 'existingSecret=test-servers'],
    ...['--set-file', 'natsConfig=deploy/nats-accounts.conf'],
  ],
];

if (helm('version').error) {
  process.stdout.write('The Helm charts are not checked: helm is not installed.\n');
  process.exit(process.argv.includes('--if-possible') ? 0 : 1);
}
for (const [chart, ...values] of charts)
  for (const version of kubernetesVersions)
    for (const command of [
      ['lint', '--strict', '--quiet'],
      ['template', 'events'],
    ]) {
      const { status, stdout, stderr } = helm(...command, chart, ...values, '--kube-version', version);
      if (status === 0) continue;
      process.stderr.write(`helm ${command[0]} ${chart} ${values.join(' ')} failed:\n${stdout}${stderr}`);
      process.exit(1);
    }
process.stdout.write(`All ${charts.length} sets of values are valid.\n`);

function helm(...args) {
  return spawnSync('helm', args, { cwd: root, encoding: 'utf8' });
}
