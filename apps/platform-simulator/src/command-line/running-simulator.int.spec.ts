import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { controlSecret, SimulatorSetup } from '../../test/simulator-setup.js';
import { runCommandLine } from './command-line.js';
import {
  controlSecretPath,
  findSimulator,
  recordSimulator,
  removeSimulatorRecord,
} from './running-simulator.js';

const url = 'http://127.0.0.1:8123';

let DATA_DIR: string;
let directory: string;
beforeEach(async () => {
  DATA_DIR = await mkdtemp(join(tmpdir(), 'running-simulator-'));
  directory = join(DATA_DIR, 'simulator');
  await mkdir(directory);
  await writeFile(controlSecretPath(directory), `${controlSecret}\n`);
});
afterEach(() => rm(DATA_DIR, { recursive: true }));

describe(findSimulator.name, () => {
  it('finds the recorded simulator, under any port', async () => {
    await recordSimulator(directory, { url: 'http://127.0.0.1:8100', pid: process.pid });
    await recordSimulator(directory, { url, pid: process.pid });
    expect(await findSimulator({ DATA_DIR })).toEqual({ url, controlSecret });
    expect(await findSimulator({ DATA_DIR, PLATFORM: 'simulator' })).toEqual({ url, controlSecret });
  });

  it('lets only the current user read the record, and leaves no other file', async () => {
    await recordSimulator(directory, { url, pid: process.pid });
    expect(await readdir(directory)).toEqual(['simulator-control-secret', 'simulator.json']);
    expect((await stat(join(directory, 'simulator.json'))).mode & 0o777).toBe(0o600);
  });

  it('explains how to start a simulator when none was recorded or it was stopped', async () => {
    await expect(findSimulator({ DATA_DIR })).rejects.toThrow(/No simulator is running .* npm start/);
    await recordSimulator(directory, { url, pid: process.pid });
    await removeSimulatorRecord(directory);
    await expect(findSimulator({ DATA_DIR })).rejects.toThrow('npm start');
  });

  it('reports a missing control secret', async () => {
    await recordSimulator(directory, { url, pid: process.pid });
    await rm(controlSecretPath(directory));
    await expect(findSimulator({ DATA_DIR })).rejects.toThrow(`Cannot read ${controlSecretPath(directory)}`);
  });

  it('ignores the record of a killed process', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    await recordSimulator(directory, { url, pid });
    await expect(findSimulator({ DATA_DIR })).rejects.toThrow('npm start');
  });

  it.each(['', '{', 'null', '[]', '{"url":"8100","pid":1}', `{"url":"${url}"}`])(
    'ignores the damaged record %j',
    async (record) => {
      await writeFile(join(directory, 'simulator.json'), record);
      await expect(findSimulator({ DATA_DIR })).rejects.toThrow('npm start');
    },
  );

  it('reports that another platform has no simulator', async () => {
    await expect(findSimulator({ DATA_DIR, PLATFORM: 'twitch' })).rejects.toThrow('PLATFORM is twitch');
  });
});

describe(runCommandLine.name, () => {
  it('controls the recorded simulator without --url', async () => {
    const setup = await SimulatorSetup.start();
    try {
      await recordSimulator(directory, { url: setup.simulator.url, pid: process.pid });
      const result = await runCommandLine(['add', 'mira', '--id', '77'], { DATA_DIR });
      expect(result).toEqual({ exitCode: 0, lines: ['77  mira  (mira)'] });
    } finally {
      await setup.close();
    }
  });

  it('ends with exit code 1 when no simulator runs', async () => {
    const { exitCode, lines } = await runCommandLine(['status'], { DATA_DIR });
    expect([exitCode, lines]).toEqual([1, [expect.stringContaining('npm start')]]);
  });
});
