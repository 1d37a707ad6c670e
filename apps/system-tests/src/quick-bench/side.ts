import { createStoreTemplate } from '../system/filled-store.js';
import type { Servers } from '../system/servers.js';

/** One of the two compared checkouts. */
export interface Side {
  name: 'own' | 'baseline';
  checkout: string;
  /** Creates a database with the schemas of this checkout and the filled store. */
  createDatabase: () => Promise<string>;
}

const filledEvents = 20_000;

export async function prepareSide(
  servers: Servers,
  { name, checkout }: Pick<Side, 'name' | 'checkout'>,
): Promise<Side> {
  const createDatabase = await createStoreTemplate(servers, filledEvents, { name, checkout });
  return { name, checkout, createDatabase };
}
