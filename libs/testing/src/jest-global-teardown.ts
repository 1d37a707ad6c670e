import { stopSharedServers } from './shared-servers.js';

/** Jest runs this once, after all test files. */
export default async function globalTeardown(): Promise<void> {
  await stopSharedServers();
}
