import { execFileSync } from 'node:child_process';
import { arch, cpus, release, totalmem, type } from 'node:os';
import { parseArgs } from 'node:util';
import { ContainerBed } from './containers/container-bed.js';
import { Engine, NoEngineError } from './containers/engine.js';
import { inspectImage, prepareImages } from './containers/images.js';
import { checkPassThrough } from './containers/pass-through.js';
import { faultPhases, fullScale, rollingRestarts, runPhase } from './containers/phases.js';
import { scalable, type Project, type Start } from './containers/project.js';
import { printImage, printPhases, printStarts, type StartTimes } from './containers/report.js';
import { measureScaling } from './containers/scaling.js';
import { measureSyncIntervals } from './containers/sync-interval.js';
import { say } from './measure/progress.js';
import { report, type Section, type SystemTest } from './measure/report.js';

// npm run test:containers: builds the image, starts docker-compose.yml, and kills, restarts, and scales its services under load. Writes
// docs/containers.md. --quick restarts everything twice instead of 20 times; --only runs one part (system, scaling, or sync-interval). With
// either option, the command prints the result and leaves the page unchanged. --keep-image uses the image of the last run.

const test: SystemTest = {
  title: 'Container test',
  command: 'test:containers',
  page: 'containers.md',
  setting: `The image of this checkout and \`docker-compose.yml\` with the simulator, ${scalable.map((name) => `${fullScale[name]} × ${name}`).join(', ')}. Containers and load share one machine.`,
};
const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    'keep-image': { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const parts = {
  system: runSystem,
  scaling: (engine: Engine) => measureScaling(engine, { rounds: flags.quick ? 1 : 3, runMs: 12_000 }),
  'sync-interval': (engine: Engine) =>
    measureSyncIntervals(engine, flags.quick ? { rounds: 1, runMs: 1_000 } : { rounds: 3, runMs: 3_000 }),
};
if (flags.only !== undefined && !Object.hasOwn(parts, flags.only)) {
  process.stderr.write(`--only takes one of ${Object.keys(parts).join(', ')}, not ${flags.only}.\n`);
  process.exit(1);
}
const rounds = flags.quick ? 2 : 20;
const startsEach = flags.quick ? 1 : 3;

async function findEngineOrExit(): Promise<Engine> {
  try {
    return await Engine.find();
  } catch (error) {
    if (!(error instanceof NoEngineError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

async function measureStarts(project: Project): Promise<StartTimes> {
  const starts = new Map<string, Start[]>();
  for (const service of scalable) {
    const [container] = await project.containersOf(service);
    if (container === undefined) throw new Error(`${service} does not run`);
    const measured: Start[] = [];
    for (let turn = 0; turn < startsEach; turn += 1) {
      await project.restart(container);
      measured.push(await project.readStart(container));
    }
    starts.set(service, measured);
    say(
      `${service}: started in ${measured.map(({ ms, cpuMs }) => `${ms} ms (${cpuMs} ms of CPU)`).join(', ')}`,
    );
  }
  return starts;
}

async function runSystem(engine: Engine): Promise<Section[]> {
  say('compose: starting');
  const bed = await ContainerBed.start(engine, fullScale);
  try {
    const starts = await measureStarts(bed.project);
    const phases = [...faultPhases, rollingRestarts(rounds)];
    const results = [];
    for (const phase of phases) results.push(await runPhase(bed, phase));
    const passing = { title: 'Proxy', paragraphs: [], promises: await checkPassThrough(bed) };
    return [printStarts(starts), printPhases(phases, results), passing];
  } finally {
    await bed.stop();
  }
}

const engine = await findEngineOrExit();
const startedAt = performance.now();
say('image: building');
const { buildMs, proxy } = await prepareImages(engine, { keepImage: flags['keep-image'] });
const sections: Section[] = [printImage(await inspectImage(engine, buildMs))];
for (const [name, run] of Object.entries(parts))
  if (flags.only === undefined || flags.only === name) sections.push(...[await run(engine)].flat());
const machine = {
  Processor: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores (${arch()})`,
  Memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
  System: `${type()} ${release()}`,
  Engine: engine.description,
  Proxy: proxy,
  'Other work on the machine': `load average ${execFileSync('uptime', { encoding: 'utf8' })
    .replace(/.*load average: /, '')
    .trim()} at the end`,
};
await report(test, { machine, startedAt, sections, isWhole: !flags.quick && flags.only === undefined });
