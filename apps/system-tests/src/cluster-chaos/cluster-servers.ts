import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { natsUsers } from '@stream-events/contracts';
import { findNatsServer } from '@stream-events/embedded';
import { NatsCluster, PostgresPair } from '@stream-events/testing';
import { parentDirectory, runSql, stopOnInterrupt, type ServerSet } from '../system/servers.js';

/** Three nats-servers and a PostgreSQL primary with a synchronous standby, with durable settings. */
export interface ClusterServers extends ServerSet {
  readonly cluster: NatsCluster;
  readonly pair: PostgresPair;
}

export async function startClusterServers(): Promise<ClusterServers> {
  const directory = await mkdtemp(join(parentDirectory, 'stream-events-cluster-test-'));
  await chmod(directory, 0o711);
  const log = (): void => undefined;
  const natsBinary = await findNatsServer({ cacheDirectory: 'node_modules/.cache/stream-events', log });
  const users = Object.values(natsUsers);
  const pair = await PostgresPair.start({ directory });
  const cluster = await NatsCluster.start({ directory, users, binary: natsBinary });
  const stop = async (): Promise<void> => {
    await cluster.stop();
    await pair.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const forget = stopOnInterrupt(stop);
  return {
    cluster,
    pair,
    natsBinary,
    get postgres() {
      return pair.primary;
    },
    nats: { urlFor: (userName) => cluster.urlsFor(userName).join(',') },
    // The URL names the primary and the standby as hosts.
    createDatabase: async (name) => {
      await runSql(pair.primary.url, `CREATE DATABASE ${name}`);
      return pair.urlOf(name);
    },
    stop: async () => {
      forget();
      await stop();
    },
  };
}
