import { say } from '../measure/progress.js';
import type { ContainerBed, PhaseResult } from './container-bed.js';
import { scalable, type Project, type ScalableName, type Scale } from './project.js';

/** Default number of instances. Each service has at least two, so that restarts interrupt nothing. */
export const fullScale: Scale = { gateway: 2, events: 3, 'platform-connector': 2, 'streamer-monitor': 2 };

export interface Phase {
  name: string;
  description: string;
  /** Whether requests may fail. A killed process loses its pending requests. */
  mayFail: boolean;
  run: (project: Project) => Promise<void>;
}

/** Phases with faults or scaling. A killed service loses pending requests, but no accepted event. */
export const faultPhases: readonly Phase[] = [
  {
    name: 'kill-services',
    description: 'One container per service is killed (SIGKILL) and restarts, one after the other',
    mayFail: true,
    run: async (project) => {
      for (const service of scalable) await project.kill(await firstOf(project, service));
    },
  },
  {
    name: 'kill-nats',
    description: 'The nats-server container is killed (SIGKILL) and restarts',
    mayFail: true,
    run: async (project) => killServer(project, 'nats'),
  },
  {
    name: 'kill-postgres',
    description: 'The PostgreSQL container is killed (SIGKILL) and restarts',
    mayFail: true,
    run: async (project) => killServer(project, 'postgres'),
  },
  {
    name: 'scale',
    description: 'Compose adds a gateway and an events service, and one of each is removed',
    mayFail: false,
    run: async (project) => {
      await project.up({ ...fullScale, gateway: 3, events: 4 });
      for (const service of ['gateway', 'events'] as const)
        await project.remove(await firstOf(project, service));
    },
  },
];

/** Restarts every container, one at a time. */
export function rollingRestarts(rounds: number): Phase {
  return {
    name: 'rolling-restarts',
    description: `Every container of every service restarts, one after the other, ${rounds} times`,
    mayFail: false,
    run: async (project) => {
      for (let round = 1; round <= rounds; round += 1) {
        // One container at a time: if several restart, the DNS of podman 4.3 resolves no names for some seconds.
        for (const service of scalable) await restartInTurn(project, service);
        say(`rolling restarts: round ${round} of ${rounds} done`);
      }
    },
  };
}

/** Runs a phase, and prints what failed. */
export async function runPhase(bed: ContainerBed, phase: Phase): Promise<PhaseResult> {
  say(`${phase.name}: running`);
  const beganAt = Date.now();
  const result = await bed.run(() => phase.run(bed.project));
  const answers = Object.entries(result.answers).map(([name, count]) => `${name} ${count}`);
  say(
    `${phase.name}: ${answers.join(', ')}; ${result.reads.succeeded} reads; ${result.findings.length} findings`,
  );
  for (const [name, count] of result.reads.failures) say(`${phase.name}: FAILED ${name} (${count})`);
  if (!phase.mayFail && result.reads.failures.size > 0)
    for (const [text, count] of await bed.project.readWarnings(beganAt))
      say(`${phase.name}: LOGGED ${text} (${count})`);
  for (const { kind, what } of result.findings.slice(0, 5)) say(`${phase.name}: FOUND ${kind} ${what}`);
  return result;
}

async function restartInTurn(project: Project, service: ScalableName): Promise<void> {
  for (const container of await project.containersOf(service)) await project.restart(container);
}

async function killServer(project: Project, name: 'nats' | 'postgres'): Promise<void> {
  const [container] = await project.containersOf(name);
  if (container === undefined) throw new Error(`${name} does not run`);
  await project.kill(container);
}

async function firstOf(project: Project, service: ScalableName): Promise<string> {
  const [container] = await project.containersOf(service);
  if (container === undefined) throw new Error(`${service} does not run`);
  return container;
}
