import { stopSharedServers } from './shared-servers.js';

/** Runs once, after all test files. */
export default async function globalTeardown(): Promise<void> {
  await stopSharedServers();
}
