import { setTimeout as wait } from 'node:timers/promises';
import type { NatsMember } from '@stream-events/testing';
import type { DescribedScenario } from '../chaos/scenario-run.js';
import type { ClusterRun } from './cluster-run.js';

/** Durations of the faults. */
export interface ClusterPace {
  pausedMs: number;
  isolatedMs: number;
  awayMs: number;
}

export interface ClusterScenario extends DescribedScenario {
  run: (cluster: ClusterRun, pace: ClusterPace) => Promise<void>;
}

// Time under load without faults, before each fault.
const calmMs = 2_000;
// Time that a failover manager needs to detect that the primary is down and to decide on a failover.
const failoverMs = 2_000;

/** In order of the run. */
export const clusterScenarios: readonly ClusterScenario[] = [
  {
    name: 'nats-follower-killed',
    description:
      'SIGKILL of a nats-server that does not lead the EVENTS stream. It starts again after the recovery.',
    run: async (cluster) => killMember(cluster, await cluster.findMember('follower')),
  },
  {
    name: 'nats-leader-killed',
    description:
      'SIGKILL of the nats-server that leads the EVENTS stream. It starts again after the recovery.',
    run: async (cluster) => killMember(cluster, await cluster.findMember('leader')),
  },
  {
    name: 'nats-leader-paused',
    description: 'SIGSTOP of the nats-server that leads the EVENTS stream, then SIGCONT after 40 s.',
    run: async (cluster, { pausedMs }) => {
      const leader = await cluster.findMember('leader');
      process.kill(leader.pid, 'SIGSTOP');
      await outlast(cluster, pausedMs);
      process.kill(leader.pid, 'SIGCONT');
      await settle(cluster);
    },
  },
  {
    name: 'standby-lost',
    description:
      'The synchronous standby shuts down, and starts again after 20 s. Commits wait until then. Times are measured from the restart of the standby.',
    run: async (cluster, { awayMs }) => {
      cluster.countFault();
      await cluster.bed.servers.pair.stopStandby();
      await wait(awayMs);
      await Promise.all([recover(cluster), cluster.bed.servers.pair.startStandby()]);
      await settle(cluster);
    },
  },
  {
    name: 'primary-killed',
    description:
      'SIGKILL of the primary. The standby is promoted after 2 s. After the recovery, the old primary becomes the synchronous standby.',
    run: async (cluster) => {
      await failOver(cluster);
      await cluster.bed.servers.pair.rejoin();
      await settle(cluster);
    },
  },
  {
    name: 'primary-and-leader-killed',
    description:
      'SIGKILL of the primary and of the nats-server that leads the EVENTS stream, at the same time.',
    run: async (cluster) => {
      const leader = await cluster.findMember('leader');
      await leader.kill();
      await failOver(cluster);
      await leader.start();
      await cluster.bed.servers.pair.rejoin();
      await settle(cluster);
    },
  },
  {
    name: 'nats-leader-isolated',
    description:
      'The nats-server that leads the EVENTS stream cannot reach the other two servers for 20 s. Its clients stay connected to the isolated server, so times are measured from the end of the isolation.',
    run: async (cluster, { isolatedMs }) => {
      const leader = await cluster.findMember('leader');
      cluster.countFault();
      leader.isolate();
      await wait(isolatedMs);
      await leader.join();
      await recover(cluster);
      await settle(cluster);
    },
  },
];

/** Runs a scenario after a calm phase. Checks that the EVENTS stream keeps its epoch. */
export async function runScenario(
  { run }: ClusterScenario,
  cluster: ClusterRun,
  pace: ClusterPace,
): Promise<void> {
  const before = await cluster.readEpoch();
  await wait(calmMs);
  await run(cluster, pace);
  // A new epoch tells every client that it may have missed events. These faults lose no events, so the epoch must not change.
  if ((await cluster.readEpoch()) !== before) cluster.find('the EVENTS stream has a new epoch');
}

async function killMember(cluster: ClusterRun, member: NatsMember): Promise<void> {
  cluster.countFault();
  await member.kill();
  await recover(cluster);
  await member.start();
  await settle(cluster);
}

async function failOver(cluster: ClusterRun): Promise<void> {
  const { pair } = cluster.bed.servers;
  cluster.countFault();
  await pair.killPrimary();
  const recovered = recover(cluster);
  await wait(failoverMs);
  await pair.promote();
  await recovered;
}

/** Measures the recovery during a fault. Returns after `ms` milliseconds, or later if the recovery takes longer. */
async function outlast(cluster: ClusterRun, ms: number): Promise<void> {
  cluster.countFault();
  await Promise.all([recover(cluster), wait(ms)]);
}

async function recover(cluster: ClusterRun): Promise<void> {
  await Promise.all([cluster.measureRequests(), cluster.measurePublished()]);
}

/** Resolves when every instance is ready and every replica is up to date. */
async function settle(cluster: ClusterRun): Promise<void> {
  await Promise.all([cluster.measureReady(), cluster.measureReplicas()]);
}
