import { startSharedServers } from './shared-servers.js';

/** Runs once, before all test files. Jest loads the built file from dist, because plain Node runs it. */
export default async function globalSetup(config: { rootDir: string }): Promise<void> {
  await startSharedServers(config.rootDir);
}
