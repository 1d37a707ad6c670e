import { setTimeout as wait } from 'node:timers/promises';
import { storeEventBatch } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { v7 as generateId } from 'uuid';
import { startLoad } from '../load/load.js';
import { cpuSecondsOfFamily } from '../measure/processes.js';
import { say } from '../measure/progress.js';
import { median } from '../measure/quantile.js';
import { formatCount, table, type Section } from '../measure/report.js';
import type { Engine } from './engine.js';
import { fullScale } from './faults.js';
import { Project } from './project.js';

/** Services whose throughput is measured, with limited instances. */
const services = ['gateway', 'events'] as const;
type Service = (typeof services)[number];

/**
 * CPU limit of each measured instance, as a share of a core. All other services keep the limits of docker-compose.yml. With shares this
 * small, two cores suffice for three instances and everything else. With a share of 0.2, the two cores would be the bottleneck.
 */
const limitedCpus: Record<Service, number> = { gateway: 0.05, events: 0.1 };
const instances = 3;
/** Number of concurrent requests. The CPU limit pauses an instance for most of each 100 ms, so every request takes about 100 ms. */
const connections: Record<Service, number> = { gateway: 480, events: 96 };
// Warm-up: V8 compiles hot code under load, and the CPU limit makes compiling many times slower.
const warmUpMs = 8_000;
const settleMs = 3_000;

/** Accepted events per second, and CPU time of all containers per event in microseconds. */
interface Run {
  perSecond: number;
  cpu: number;
}

/** A load with a fixed number of concurrent requests, sent as fast as the system responds. */
interface FullLoad {
  /** Events accepted since the last call. */
  takeCount(): number | Promise<number>;
  stop(): Promise<void>;
}

/** Compares the throughput of three instances with that of one. Each instance gets a small share of a core. */
export async function measureScaling(
  engine: Engine,
  { rounds, runMs }: { rounds: number; runMs: number },
): Promise<Section> {
  const runs = new Map<string, Run[]>();
  await Project.run(engine, { ...fullScale, gateway: instances, events: instances }, async (project) => {
    for (let round = 1; round <= rounds; round += 1)
      for (const service of services)
        // Alternate the order, so that other load on the machine affects the runs with one and with all instances equally.
        for (const count of round % 2 === 1 ? [1, instances] : [instances, 1]) {
          const run = await measure(project, service, { count, runMs });
          const name = nameOf(count, service);
          runs.set(name, [...(runs.get(name) ?? []), run]);
          say(
            `scaling, round ${round}: ${name}: ${formatCount(run.perSecond)} events/s, ${run.cpu.toFixed(0)} µs of CPU each`,
          );
        }
  });
  return printSection(runs);
}

function nameOf(count: number, service: Service): string {
  return `${count} × ${service}`;
}

/** Runs the load on `count` limited instances of the service. Stops the other instances for this time. */
async function measure(
  project: Project,
  service: Service,
  { count, runMs }: { count: number; runMs: number },
): Promise<Run> {
  const limit = (container: string, cpus: number): Promise<string> =>
    project.engine.run('update', '--cpus', String(cpus), container);
  const cpuSeconds = async (): Promise<number> =>
    (await project.pids()).reduce((sum, pid) => sum + cpuSecondsOfFamily(pid), 0);
  const containers = await project.containersOf(service);
  const stopped = containers.slice(count);
  const running = containers.slice(0, count);
  for (const container of stopped) await project.stop(container);
  const load = service === 'gateway' ? startNotifications(project) : await startStoring(project);
  try {
    await wait(warmUpMs);
    for (const container of running) await limit(container, limitedCpus[service]);
    await wait(settleMs);
    await load.takeCount();
    const [before, startedAt] = [await cpuSeconds(), performance.now()];
    await wait(runMs);
    const [accepted, after, endedAt] = [await load.takeCount(), await cpuSeconds(), performance.now()];
    return {
      perSecond: accepted / ((endedAt - startedAt) / 1_000),
      cpu: ((after - before) / accepted) * 1e6,
    };
  } finally {
    for (const container of running) await limit(container, 1);
    await load.stop();
    for (const container of stopped) await project.start(container);
  }
}

/** Signed notifications, sent through the proxy. */
function startNotifications(project: Project): FullLoad {
  const load = startLoad({
    kind: 'notifications',
    connections: connections.gateway,
    ports: [Number(project.variable('PORT'))],
    webhookSecret: project.variable('PLATFORM_WEBHOOK_SECRET'),
    token: '',
  });
  return { takeCount: async () => (await load.takeCounts()).succeeded, stop: () => load.stop() };
}

/** Sends what a gateway sends to the events services. Each request contains one event. */
async function startStoring(project: Project): Promise<FullLoad> {
  const [address] = await project.addressesOf('nats');
  const url = `nats://gateway:${project.variable('NATS_GATEWAY_PASSWORD')}@${address}:4222`;
  const client = new RequestClient({ urls: [url], name: 'scaling-test' });
  await client.connect();
  let stored = 0;
  let isStopping = false;
  const send = async (): Promise<void> => {
    while (!isStopping) {
      const id = generateId();
      const eventData = `{"broadcaster_user_id":"4711","user_id":"${id}"}`;
      const type = { eventType: 'channel-follow', eventSource: 'system-test', origin: 'platform' } as const;
      const event = { ...type, id, eventId: id, eventData, idempotencyKey: null };
      try {
        await client.request(storeEventBatch, { events: [event] });
        stored += 1;
      } catch {
        await wait(100); // the service is busy or stopped
      }
    }
  };
  const senders = Promise.all(Array.from({ length: connections.events }, send));
  return {
    takeCount: () => {
      const taken = stored;
      stored = 0;
      return taken;
    },
    stop: async () => {
      isStopping = true;
      await senders;
      await client.close();
    },
  };
}

function printSection(runs: ReadonlyMap<string, readonly Run[]>): Section {
  return {
    title: 'Scaling',
    paragraphs: [
      `Each instance of the measured service gets a small share of a core (gateway ${limitedCpus.gateway}, events ${limitedCpus.events}), so that one machine can show the effect of several machines. Gateways receive signed notifications through the proxy, on ${connections.gateway} connections. Events services receive the requests of a gateway over NATS, each with one event, with ${connections.events} requests in flight. Everything else runs as in \`docker-compose.yml\`, with ${instances} instances of the service that is not measured. The processor time is the sum over all containers. The table shows the median and the range (lowest to highest value) of alternating runs.`,
      table(
        ['instances', 'events/s', 'CPU per event in µs'],
        [...runs].map(([name, measured]) => [
          name,
          printRange(measured.map(({ perSecond }) => perSecond)),
          printRange(measured.map(({ cpu }) => cpu)),
        ]),
      ),
      ...services.map((service) => {
        const ratioOf = (key: keyof Run): string => {
          const [one = NaN, many = NaN] = [1, instances].map((count) =>
            median((runs.get(nameOf(count, service)) ?? []).map((run) => run[key])),
          );
          return (many / one).toFixed(2);
        };
        return `${nameOf(instances, service)}: ${ratioOf('perSecond')} × the events of one, ${ratioOf('cpu')} × the CPU per event.`;
      }),
    ],
    promises: [],
  };
}

function printRange(values: readonly number[]): string {
  return `${formatCount(median(values))} (${formatCount(Math.min(...values))} to ${formatCount(Math.max(...values))})`;
}
