import { startPlatformSide } from './platform-side.js';
import { createDatabase, runSql, type ServerAddresses } from './servers.js';
import { startSystem } from './system.js';

/** Which services create the schemas, and the name of the template. */
export interface TemplateOptions {
  name?: string;
  /** A built checkout. Default: this one. */
  checkout?: string | undefined;
}

/** Fills a database once. Each call of the returned function creates a copy of this database. */
export async function createStoreTemplate(
  servers: ServerAddresses,
  events: number,
  { name = 'filled_store', checkout }: TemplateOptions = {},
): Promise<() => Promise<string>> {
  const template = await createDatabase(servers.postgres.url, name);
  await createSchemas(servers, template, checkout);
  await fillStore(template, events);
  let count = 0;
  return async () => {
    count += 1;
    const copy = `${name}_${count}`;
    await runSql(
      servers.postgres.url,
      `CREATE DATABASE ${copy} TEMPLATE ${name} STRATEGY file_copy`,
      'CHECKPOINT',
    );
    const url = new URL(servers.postgres.url);
    url.pathname = `/${copy}`;
    return url.href;
  };
}

/** Starts every service once. A service that starts on a copy has nothing to migrate. */
async function createSchemas(
  servers: ServerAddresses,
  url: string,
  checkout: string | undefined,
): Promise<void> {
  const system = await startSystem(servers, url, { gateways: 1, events: 1, checkout });
  try {
    const platform = await startPlatformSide(servers, url, system);
    await platform.stop();
  } finally {
    await system.stop();
  }
}

/** Inserts channel follows, one per millisecond until now, from as many viewers as in the load. */
async function fillStore(url: string, events: number): Promise<void> {
  // The services have created the partitions of this month and later ones.
  const now = new Date();
  const from = Math.max(now.getTime() - events, Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
  const id = `(lpad(to_hex(${from}::bigint + n), 12, '0') || '7000' || lpad(to_hex(n), 16, '8'))::uuid`;
  await runSql(
    url,
    'SET search_path TO events',
    `INSERT INTO events (id, event_id, event_type, event_source, origin, event_data, broadcaster_user_id, user_id, user_name)
     SELECT ${id}, 'filled-' || n, 'channel-follow', 'PlatformSub', 'platform',
       json_build_object('user_id', 100000 + n % 5000, 'user_name', 'Viewer_' || n % 5000, 'broadcaster_user_id', '4711'),
       '4711', (100000 + n % 5000)::text, 'viewer_' || n % 5000
     FROM generate_series(1, ${events}) AS n`,
    `INSERT INTO received_messages (key, event_id) SELECT md5(n::text)::uuid, ${id} FROM generate_series(1, ${events}) AS n`,
    'VACUUM ANALYZE',
  );
}
