import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { unlessMissing } from '@stream-events/embedded';
import { platformNames } from '@stream-events/platforms';
import { ConfigError } from '@stream-events/service';
import { readConfig, type AllInOneConfig } from './all-in-one.config.js';
import { dataDirectory } from './servers.js';

/**
 * Reads the configuration of a command that works on existing data, such as a backup. Without `PLATFORM`, such a command would use the data
 * of the simulator and report success, even if the operator means the data of another platform in the same folder.
 *
 * @throws ConfigError that lists all faults
 */
export async function readCommandConfig(
  environment: NodeJS.ProcessEnv,
  options?: { needsSecretKey?: boolean },
): Promise<AllInOneConfig> {
  const config = readConfig(environment, options);
  if (environment.PLATFORM) return config;
  const found: string[] = [];
  for (const name of platformNames)
    if (await unlessMissing(stat(dataDirectory({ ...config, PLATFORM: name })))) found.push(name);
  if (found.every((name) => name === config.PLATFORM)) return config;
  throw new ConfigError([
    `PLATFORM is required, because ${resolve(config.DATA_DIR)} contains data of PLATFORM=${found.join(' and PLATFORM=')}`,
  ]);
}
