import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measure, watchMemory, type Measurement, type MeasurementOptions } from './bench/measurement.js';
import { printSections, type BenchmarkResults } from './bench/report.js';
import { startSubject, type Subject, type SubjectName } from './bench/subject.js';
import { say } from './measure/progress.js';
import { report, type SystemTest } from './measure/report.js';
import { readProfiles } from './measure/profile.js';
import { createStoreTemplate } from './system/filled-store.js';
import { startServers, type Servers } from './system/servers.js';

// npm run bench: alternates between the write path and the raw ceiling, and writes docs/benchmarks.md. --quick runs a short version, prints
// the result, and leaves the page unchanged.

const test: SystemTest = {
  title: 'Benchmarks',
  command: 'bench',
  page: 'benchmarks.md',
  setting: 'Services, servers, and load share one machine.',
};

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });

const startedAt = performance.now();
const connections = 64;
const filledEvents = flags.quick ? 20_000 : 200_000;
const rounds = flags.quick ? 1 : 3;

const memorySeconds = flags.quick ? 20 : 300;
// Warm-up: under load, V8 compiles hot code within a few seconds.
const pace = { warmUpSeconds: flags.quick ? 4 : 10, seconds: flags.quick ? 6 : 12 };
const subjects = ['ceiling', '1 + 1', '2 + 2'] as const;

class Benchmark {
  constructor(
    private readonly servers: Servers,
    private readonly createStore: () => Promise<string>,
  ) {}

  /** Alternates the subjects, so that other load on the machine affects all equally. */
  async compare(): Promise<Record<SubjectName, Measurement[]>> {
    const results: Record<SubjectName, Measurement[]> = { ceiling: [], '1 + 1': [], '2 + 2': [] };
    for (let round = 1; round <= rounds; round += 1) {
      for (const name of subjects) {
        results[name].push(await this.run(name, 'notifications', `round ${round}/${rounds}`));
      }
    }
    return results;
  }

  async measurePosts(): Promise<Measurement[]> {
    const results: Measurement[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      results.push(await this.run('1 + 1', 'posts', `POST, round ${round}/${rounds}`));
    }
    return results;
  }

  async watchMemory(): Promise<BenchmarkResults['memory']> {
    return this.withSubject('1 + 1', [], (subject) =>
      watchMemory(subject, this.servers, {
        ...this.load('notifications'),
        seconds: memorySeconds,
        everySeconds: 5,
        onSample: ({ second, perSecond, megabytes }) =>
          say(
            `memory, ${second}/${memorySeconds} s: ${Math.round(perSecond)}/s, MiB: ${JSON.stringify(megabytes, rounded)}`,
          ),
      }),
    );
  }

  async profile(): Promise<BenchmarkResults['profiles']> {
    const directory = await mkdtemp(join(tmpdir(), 'stream-events-profile-'));
    try {
      await this.withSubject('1 + 1', ['--cpu-prof', `--cpu-prof-dir=${directory}`], (subject) =>
        measure(subject, this.servers, this.load('notifications')),
      );
      return await readProfiles(directory);
    } finally {
      await rm(directory, { recursive: true });
    }
  }

  private async run(
    name: SubjectName,
    kind: MeasurementOptions['kind'],
    label: string,
  ): Promise<Measurement> {
    const result = await this.withSubject(name, [], (subject) =>
      measure(subject, this.servers, this.load(kind)),
    );
    const { perSecond, latencyMs, cpuMicroseconds } = result;
    say(
      `${label}, ${name}: ${Math.round(perSecond)}/s, p99 ${latencyMs.p99.toFixed(1)} ms, CPU µs: ${JSON.stringify(cpuMicroseconds, rounded)}`,
    );
    return result;
  }

  private load(kind: MeasurementOptions['kind']): MeasurementOptions {
    return { kind, connections, ...pace };
  }

  private async withSubject<T>(
    name: SubjectName,
    nodeOptions: readonly string[],
    work: (subject: Subject) => Promise<T>,
  ): Promise<T> {
    const subject = await startSubject(name, this.servers, await this.createStore(), { nodeOptions });
    try {
      return await work(subject);
    } finally {
      await subject.stop();
    }
  }
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value) : value;
}

const servers = await startServers();
try {
  say(`filling a store with ${filledEvents} events`);
  const benchmark = new Benchmark(servers, await createStoreTemplate(servers, filledEvents));
  const sections = printSections({
    cores: cpus().length,
    filledEvents,
    connections,
    notifications: await benchmark.compare(),
    posts: await benchmark.measurePosts(),
    profiles: await benchmark.profile(),
    memory: await benchmark.watchMemory(),
  });
  await report(test, { servers, startedAt, sections, isWhole: !flags.quick });
} finally {
  await servers.stop();
}
