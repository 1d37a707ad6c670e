import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { NatsUser } from '@stream-events/embedded';
import { ownUser, withOwnAccounts } from '@stream-events/testing';
import { createStoreTemplate } from '../system/filled-store.js';
import { startServers, type ServerAddresses, type Servers } from '../system/servers.js';

/** One of the two compared checkouts, with its own databases and NATS accounts on the common servers. */
export interface Side {
  name: 'own' | 'baseline';
  checkout: string;
  servers: ServerAddresses;
  /** Creates a database with the schemas of this checkout and some events. */
  createDatabase: () => Promise<string>;
}

const filledEvents = 20_000;
// Work that PostgreSQL does at times of its own would fall on one side only.
const postgresSettings = { autovacuum: 'off', checkpoint_timeout: '1h', max_wal_size: '16GB' };

/** @param checkouts the built checkouts by the name of their side */
export async function startSides(
  checkouts: Readonly<Record<Side['name'], string>>,
): Promise<{ servers: Servers; sides: Side[] }> {
  const entries = Object.entries(checkouts) as [Side['name'], string][]; // Safe cast: the record has these keys
  const users = await Promise.all(
    entries.map(async ([name, checkout]) => withOwnAccounts(await readNatsUsers(checkout), name)),
  );
  const servers = await startServers({ natsUsers: users.flat(), postgresSettings });
  try {
    const sides: Side[] = [];
    for (const [name, checkout] of entries) {
      const addresses: ServerAddresses = {
        postgres: servers.postgres,
        nats: { urlFor: (user) => servers.nats.urlFor(ownUser(user, name)) },
        natsBinary: servers.natsBinary,
      };
      const createDatabase = await createStoreTemplate(addresses, filledEvents, { name, checkout });
      sides.push({ name, checkout, servers: addresses, createDatabase });
    }
    return { servers, sides };
  } catch (error) {
    await servers.stop();
    throw error;
  }
}

/** Each checkout gets the permissions that its services need. */
async function readNatsUsers(checkout: string): Promise<NatsUser[]> {
  const path = join(checkout, 'libs/contracts/dist/index.js');
  if (!existsSync(path)) throw new Error(`${checkout} is not a built checkout: run npm run check there`);
  const module = pathToFileURL(path).href;
  const { natsUsers } = (await import(module)) as { natsUsers: Record<string, NatsUser> }; // Safe cast: every checkout exports them
  return Object.values(natsUsers);
}
