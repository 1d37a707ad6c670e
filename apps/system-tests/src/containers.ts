import { parseArgs } from 'node:util';
import { ContainerBed } from './containers/container-bed.js';
import { Engine } from './containers/engine.js';
import { fullScale, runPhases } from './containers/faults.js';
import { prepareImage, prepareProxyImage } from './containers/images.js';
import { checkPassThrough } from './containers/pass-through.js';
import { Project, scalable } from './containers/project.js';
import { measureScaling } from './containers/scaling.js';
import { say } from './measure/progress.js';
import { report, type Section, type SystemTest } from './measure/report.js';

// npm run test:containers: builds the image, starts docker-compose.yml, and kills, restarts, and scales its services under load. --quick
// restarts everything twice instead of 20 times; --only runs one part (system or scaling); --keep-image uses the image of the last run.

const test: SystemTest = {
  title: 'Container test',
  command: 'test:containers',
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
  scaling: async (engine: Engine) => [
    await measureScaling(engine, { rounds: flags.quick ? 1 : 3, runMs: 12_000 }),
  ],
};

function runSystem(engine: Engine): Promise<Section[]> {
  say('compose: starting');
  return Project.run(engine, fullScale, async (project) => {
    const bed = await ContainerBed.create(project);
    try {
      return [await runPhases(bed, flags.quick ? 2 : 20), await checkPassThrough(bed)];
    } finally {
      await bed.stop();
    }
  });
}

function exit(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

if (flags.only !== undefined && !Object.hasOwn(parts, flags.only))
  exit(`--only takes one of ${Object.keys(parts).join(', ')}, not ${flags.only}.`);
const engine = await Engine.find();
if (!engine)
  exit(
    'No container engine responds. Install Docker with its compose plugin (https://docs.docker.com/engine/install/), or podman and ' +
      'podman-compose. Start the engine, and check that `docker info` and `docker compose version`, or `podman info` and ' +
      '`podman-compose --version`, succeed.',
  );
const startedAt = performance.now();
say('image: building');
const proxy = await prepareProxyImage(engine);
const sections = [await prepareImage(engine, { keepImage: flags['keep-image'] })];
for (const [name, run] of Object.entries(parts))
  if (flags.only === undefined || flags.only === name) sections.push(...(await run(engine)));
await report(test, {
  machine: { Engine: engine.description, Proxy: proxy },
  startedAt,
  sections,
});
