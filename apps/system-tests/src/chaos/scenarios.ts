import { setTimeout as wait } from 'node:timers/promises';
import { freeze, targetsOf, type FaultTarget, type TargetName } from './fault-target.js';
import { poisonScenario } from './poison-scenario.js';
import { socketScenario } from './socket-scenario.js';
import type { Servers } from '../system/servers.js';
import type { DescribedScenario, ScenarioRun } from './scenario-run.js';

/** Number and durations of the faults. */
export interface Pace {
  kills: number;
  frozenMs: number;
  awayMs: number;
  poisonRounds: number;
  rollingRounds: number;
}

/** A run on servers that scenarios can stop and restart. */
export type FaultRun = ScenarioRun<Servers>;

export interface Scenario extends DescribedScenario {
  run: (run: FaultRun, pace: Pace) => Promise<void>;
}

// Time that a supervisor needs to notice that a process has exited.
const supervisorMs = 500;
// Time under load without faults: before the first fault, and after each fault.
const calmMs = 1_000;
// After a kill, publishing the backlog takes 10 s. Wait for it only after every fourth kill, so that the other kills hit a
// system with a backlog.
const killsBetweenMeasurements = 4;

const targets: { name: TargetName; description: string }[] = [
  { name: 'gateway', description: 'a gateway' },
  { name: 'events', description: 'an events service' },
  { name: 'nats', description: 'nats-server' },
  { name: 'postgres', description: 'PostgreSQL' },
];

/** In order of the run. The scenario that recreates the stream is last. */
export const scenarios: readonly Scenario[] = [
  ...targets.map(killScenario),
  ...targets.map(freezeScenario),
  awayScenario('postgres-away', 'PostgreSQL', ['postgres']),
  awayScenario('nats-away', 'nats-server', ['nats']),
  awayScenario('both-away', 'PostgreSQL and nats-server', ['postgres', 'nats']),
  // Without a proxy, a stopping gateway can cut connections (docs/limits.md). The container test restarts gateways behind a proxy.
  rollingScenario('gateway', ['accepted', 'not connected', 'broken'], 'No request gets an error response.'),
  rollingScenario('events', ['accepted'], 'Every request succeeds.'),
  poisonScenario,
  socketScenario,
  {
    name: 'stream-deleted',
    description:
      'The EVENTS stream is deleted under load. Every event accepted since two minutes before the deletion must be on the new stream.',
    run: deleteStream,
  },
];

function killScenario({ name, description }: (typeof targets)[number]): Scenario {
  return {
    name: `kill-${name}`,
    description: `SIGKILL of ${description} at random moments, restarted after ${supervisorMs / 1_000} s.`,
    run: async (run, { kills }) => {
      const victims = targetsFrom(run, name);
      for (let count = 1; count <= kills; count += 1) {
        await wait(300 + Math.random() * 1_500);
        await killAndRestart(run, existing(victims[count % victims.length]));
        if (count % killsBetweenMeasurements === 0 || count === kills) await run.measurePublished();
      }
    },
  };
}

async function killAndRestart(run: FaultRun, target: FaultTarget): Promise<void> {
  run.countFault();
  await target.kill();
  await wait(supervisorMs);
  await Promise.all([run.measureRequests(), target.start()]);
}

function freezeScenario({ name, description }: (typeof targets)[number]): Scenario {
  return {
    name: `freeze-${name}`,
    description: `SIGSTOP of ${description} (all of its processes), then SIGCONT after 10 s.`,
    run: async (run, { frozenMs }) => {
      await wait(calmMs);
      run.countFault();
      await freeze(existing(targetsFrom(run, name)[0]), frozenMs);
      await Promise.all([run.measureRequests(), run.measurePublished()]);
    },
  };
}

function awayScenario(name: string, description: string, names: readonly TargetName[]): Scenario {
  return {
    name,
    description: `${description} shut down, and started again after 60 s.`,
    run: async (run, { awayMs }) => {
      await wait(calmMs);
      run.countFault();
      const away = names.flatMap((target) => targetsFrom(run, target));
      await Promise.all(away.map((target) => target.stop()));
      await wait(awayMs);
      await Promise.all([run.measureRequests(), ...away.map((target) => target.start())]);
      await run.measurePublished();
    },
  };
}

function rollingScenario(
  target: 'gateway' | 'events',
  expected: readonly string[],
  promise: string,
): Scenario {
  return {
    name: target === 'gateway' ? 'rolling-gateways' : 'rolling-events',
    description: `SIGTERM of each ${target} instance in turn, followed by a restart. ${promise}`,
    run: async (run, { rollingRounds }) => {
      const instances = targetsFrom(run, target);
      for (let count = 0; count < rollingRounds * instances.length; count += 1) {
        const instance = existing(instances[count % instances.length]);
        await wait(calmMs);
        run.countFault();
        await instance.stop();
        await wait(supervisorMs);
        await Promise.all([run.measureRequests(), instance.start()]);
      }
      await wait(calmMs);
      await run.load.pause();
      for (const [answer, count] of Object.entries(run.answers))
        if (!expected.includes(answer)) run.find(`${count} attempts ended with: ${answer}`);
    },
  };
}

async function deleteStream(run: FaultRun): Promise<void> {
  await wait(3 * calmMs);
  run.requireOnStream(Date.now() - 120_000);
  run.countFault();
  await run.bed.stream.deleteStream();
  await Promise.all([run.measureRequests(), wait(3 * calmMs)]);
  await run.measurePublished();
}

function targetsFrom({ bed: { servers, system } }: FaultRun, name: TargetName): FaultTarget[] {
  return targetsOf(name, servers, system);
}

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('unknown target');
  return value;
}
