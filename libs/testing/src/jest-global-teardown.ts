import { stopSharedServers } from './shared-servers.js';

/** Run by Jest once, after all test files. */
export default async function globalTeardown(): Promise<void> {
  await stopSharedServers();
}
