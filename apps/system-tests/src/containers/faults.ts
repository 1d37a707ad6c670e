import { say } from '../measure/progress.js';
import { formatCount, table, type Section } from '../measure/report.js';
import type { ContainerBed, PhaseResult } from './container-bed.js';
import { scalable, type Project, type Scale } from './project.js';

/** Default number of instances. Each service has at least two, so that restarts interrupt nothing. */
export const fullScale: Scale = { gateway: 2, events: 3, 'platform-connector': 2, 'streamer-monitor': 2 };

interface Phase {
  name: string;
  description: string;
  /** Whether requests may fail. A killed process loses its pending requests. */
  mayFail: boolean;
  run: (project: Project) => Promise<void>;
}

const faultPhases: readonly Phase[] = [
  {
    name: 'kills',
    description:
      'One container per service, the nats-server container, and the PostgreSQL container are killed (SIGKILL) and restart, one after the other',
    mayFail: true,
    run: async (project) => {
      for (const service of [...scalable, 'nats', 'postgres'] as const)
        await project.kill(await project.firstOf(service));
    },
  },
  {
    name: 'scale',
    description: 'Compose adds a gateway and an events service, and one of each is removed',
    mayFail: false,
    run: async (project) => {
      await project.up({ ...fullScale, gateway: 3, events: 4 });
      for (const service of ['gateway', 'events'] as const)
        await project.remove(await project.firstOf(service));
    },
  },
];

function rollingRestarts(rounds: number): Phase {
  return {
    name: 'rolling-restarts',
    description: `Every container of every service restarts, one after the other, ${rounds} times`,
    mayFail: false,
    run: async (project) => {
      for (let round = 1; round <= rounds; round += 1) {
        // One container at a time: if several restart, the DNS of podman 4.3 resolves no names for some seconds.
        for (const service of scalable)
          for (const container of await project.containersOf(service)) await project.restart(container);
        say(`rolling restarts: round ${round} of ${rounds} done`);
      }
    },
  };
}

/** Kills, scales, and restarts the services under load. */
export async function runPhases(bed: ContainerBed, rounds: number): Promise<Section> {
  const results: (Phase & PhaseResult)[] = [];
  for (const phase of [...faultPhases, rollingRestarts(rounds)]) {
    say(`${phase.name}: running`);
    const result = await bed.run(() => phase.run(bed.project));
    say(
      `${phase.name}: ${result.accepted} events accepted, failed requests: ${describeFailures(result)}; ${result.reads.succeeded} reads`,
    );
    for (const { kind, what } of result.findings.slice(0, 5)) say(`${phase.name}: FOUND ${kind} ${what}`);
    results.push({ ...phase, ...result });
  }
  return print(results);
}

function print(results: readonly (Phase & PhaseResult)[]): Section {
  const accepted = results.reduce((sum, result) => sum + result.accepted, 0);
  const findings = results.reduce((sum, result) => sum + result.findings.length, 0);
  return {
    title: 'Faults, scaling, and rolling restarts',
    paragraphs: [
      'Compose runs all services and the included proxy. 12 clients send 60 signed notifications and POSTs per second through the proxy, and 4 clients read from every service. Half of the clients keep their connections open. After each phase, the event list is compared with everything that was sent. A killed process loses the requests that it was handling, so requests may fail in the phase that kills processes. The senders retry failed requests as the platform does.',
      table(
        [
          'phase',
          'what happens',
          'events accepted',
          'reads',
          'failed requests',
          'lost, duplicated, or changed',
        ],
        results.map((result) => [
          result.name,
          result.description,
          formatCount(result.accepted),
          formatCount(result.reads.succeeded),
          describeFailures(result),
          result.findings.length === 0 ? 'none' : `**${result.findings.length}**`,
        ]),
      ),
    ],
    promises: [
      {
        promise: 'Every accepted event is stored exactly once',
        measured: `${formatCount(accepted)} accepted, ${findings} findings`,
        isKept: accepted > 0 && findings === 0,
      },
      ...results
        .filter(({ mayFail }) => !mayFail)
        .map((result) => ({
          promise: `No request fails in ${result.name}`,
          measured: `${formatCount(result.accepted + result.reads.succeeded)} requests, failed: ${describeFailures(result)}`,
          isKept: result.accepted > 0 && result.reads.succeeded > 0 && describeFailures(result) === 'none',
        })),
    ],
  };
}

function describeFailures({ failures, reads }: PhaseResult): string {
  const all = [...failures, ...reads.failures];
  return all.map(([name, count]) => `${count} × ${name}`).join(', ') || 'none';
}
