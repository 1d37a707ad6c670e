import { startSharedServers } from './shared-servers.js';

/** Run by Jest once, before all test files. Jest loads it by plain Node, so it must be the built file in dist. */
export default async function globalSetup(config: { rootDir: string }): Promise<void> {
  await startSharedServers(config.rootDir);
}
