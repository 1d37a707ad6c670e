import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigError, loadConfig } from '@stream-events/service';
import { controlSecret } from '../platform-simulator.config.js';
import { CommandError, type ControlAddress } from './control-client.js';

/** The record that `npm start` writes about its simulator and `npm run simulator` reads. */
export interface RunningSimulator {
  /** Base URL, such as `http://127.0.0.1:8100`. */
  url: string;
  pid: number;
}

/** Writes the record to the platform's data folder. Only the current user can read it. */
export async function recordSimulator(directory: string, simulator: RunningSimulator): Promise<void> {
  const draft = `${recordPath(directory)}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(simulator)}\n`, { mode: 0o600 });
  // The rename is atomic, so readers never see half a record.
  await rename(draft, recordPath(directory));
}

export async function removeSimulatorRecord(directory: string): Promise<void> {
  await rm(recordPath(directory), { force: true });
}

/** Path of the control secret, which `npm start` writes to the platform's data folder. */
export function controlSecretPath(directory: string): string {
  return join(directory, 'simulator-control-secret');
}

/**
 * Returns the address of the simulator at `url`. Takes the control secret from the environment, because the secret in the data folder
 * belongs to the simulator of `npm start`.
 *
 * @throws CommandError if the secret is missing or invalid
 */
export function addressSimulator(url: string, environment: NodeJS.ProcessEnv): ControlAddress {
  try {
    const config = loadConfig({ SIMULATOR_CONTROL_SECRET: controlSecret }, environment);
    return { url, controlSecret: config.SIMULATOR_CONTROL_SECRET };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandError(`--url needs the control secret of that simulator. ${error.message}`);
  }
}

/**
 * Finds the simulator that `npm start` runs with the same DATA_DIR.
 *
 * @throws CommandError if PLATFORM is set to another platform, no simulator is running, or the record or the secret cannot be read
 */
export async function findSimulator(environment: NodeJS.ProcessEnv): Promise<ControlAddress> {
  const { DATA_DIR, PLATFORM } = environment;
  if (PLATFORM && PLATFORM !== 'simulator') {
    throw new CommandError(`PLATFORM is ${PLATFORM}, but only PLATFORM=simulator has a simulator.`);
  }
  const directory = resolve(DATA_DIR || '.data', 'simulator');
  const simulator = await readRecord(directory);
  // A killed process leaves its record behind, so check its pid.
  if (!simulator || !isRunning(simulator.pid)) {
    throw new CommandError(
      `No simulator is running with the data in ${directory}. Start a simulator with npm start, or pass the address of a simulator with --url.`,
    );
  }
  return { url: simulator.url, controlSecret: await readControlSecret(directory) };
}

async function readControlSecret(directory: string): Promise<string> {
  const path = controlSecretPath(directory);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new CommandError(`Cannot read ${path}: ${(error as Error).message}`); // Safe cast: fs throws only Errors.
  }
}

/** Returns undefined if the record is missing or damaged. */
async function readRecord(directory: string): Promise<RunningSimulator | undefined> {
  try {
    const { url, pid } = Object(JSON.parse(await readFile(recordPath(directory), 'utf8'))) as Partial<
      Record<keyof RunningSimulator, unknown>
    >; // Safe cast: checked field by field below.
    return typeof url === 'string' && URL.canParse(url) && typeof pid === 'number' ? { url, pid } : undefined;
  } catch (error) {
    // Safe cast: fs throws Errors with a code.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`Cannot read ${recordPath(directory)}: ${(error as Error).message}`); // Safe cast: fs throws only Errors.
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // Safe cast: process.kill throws Errors with a code.
  }
}

function recordPath(directory: string): string {
  return join(directory, 'simulator.json');
}
