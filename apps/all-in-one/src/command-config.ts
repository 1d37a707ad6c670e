import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { unlessMissing } from '@stream-events/embedded';
import { platformNames } from '@stream-events/platforms';
import { ConfigError } from '@stream-events/service';
import { readConfig, type AllInOneConfig } from './all-in-one.config.js';
import { dataDirectory } from './servers.js';

/**
 * Reads the configuration of a command for existing data, such as a backup. Requires `PLATFORM` if the data folder contains another
 * platform's data. Otherwise the command would silently use the simulator's data.
 *
 * @throws ConfigError if a variable is invalid or missing
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
