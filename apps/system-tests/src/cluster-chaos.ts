import { parseArgs } from 'node:util';
import { printSections } from './chaos/report.js';
import { chooseScenarios } from './chaos/scenario-run.js';
import { ClusterRun, clusterLoad } from './cluster-chaos/cluster-run.js';
import { clusterScenarios, runScenario, type ClusterPace } from './cluster-chaos/cluster-scenarios.js';
import { report, type SystemTest } from './measure/report.js';

// npm run chaos:cluster: kills, pauses, and isolates servers of a cluster, and looks for lost and duplicate events.
// --quick runs a short version; --only NAME,NAME runs some scenarios.

const test: SystemTest = {
  title: 'Cluster test',
  command: 'chaos:cluster',
  setting:
    'Two instances each of the gateway, the events service, the platform connector, and the streamer monitor; three nats-servers with ' +
    'three replicas of each stream (`NATS_REPLICAS=3`); a PostgreSQL primary with a synchronous standby, both durable. Every service ' +
    'knows all servers: three addresses in `NATS_URL`, two hosts in `DATABASE_URL`. Servers, services, and load share one machine.',
};
const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const pace: ClusterPace = flags.quick
  ? { pausedMs: 5_000, isolatedMs: 5_000, awayMs: 5_000 }
  : { pausedMs: 40_000, isolatedMs: 20_000, awayMs: 20_000 };

const chosen = chooseScenarios(clusterScenarios, flags.only);
const startedAt = performance.now();
const cluster = await ClusterRun.start();
try {
  const results = await cluster.runAll(chosen, (scenario) => runScenario(scenario, cluster, pace));
  const page = {
    load: clusterLoad,
    requestsSince: 'the start of the fault, which continues meanwhile (some scenarios define a later start),',
  };
  await report(test, {
    servers: cluster.bed.servers,
    startedAt,
    sections: printSections(results, page),
  });
} finally {
  await cluster.bed.stop();
}
