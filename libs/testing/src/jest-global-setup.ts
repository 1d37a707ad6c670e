import { startSharedServers } from './shared-servers.js';

/** Jest runs this once, before all test files. Plain Node loads this file, so Jest uses the built file in dist. */
export default async function globalSetup(config: { rootDir: string }): Promise<void> {
  await startSharedServers(config.rootDir);
}
