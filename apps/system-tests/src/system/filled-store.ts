import { connectDatabase } from '@stream-events/database';
import { PartitionsRepository, schema } from '@stream-events/events/benchmark';
import { runSql, type Servers } from './servers.js';

/** Fills a database once. Each call of the returned function creates a copy of this database. */
export async function createStoreTemplate(servers: Servers, events: number): Promise<() => Promise<string>> {
  const template = await servers.createDatabase('filled_store');
  await fillStore(template, events);
  let count = 0;
  return async () => {
    count += 1;
    const name = `store_${count}`;
    await runSql(
      servers.postgres.url,
      `CREATE DATABASE ${name} TEMPLATE filled_store STRATEGY file_copy`,
      'CHECKPOINT',
    );
    const url = new URL(servers.postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  };
}

/** Inserts channel follows, one per millisecond until now, from as many viewers as in the load. */
async function fillStore(url: string, events: number): Promise<void> {
  const { entities, migrations } = schema;
  const dataSource = await connectDatabase({
    url,
    schema: schema.name,
    applicationName: 'fill',
    entities,
    migrations,
    poolSize: 1,
    statementTimeoutMs: 600_000,
  });
  const from = Date.now() - events;
  const partitions = new PartitionsRepository(dataSource);
  await partitions.ensureAhead(from);
  await partitions.ensureAhead(Date.now());
  const id = `(lpad(to_hex(${from}::bigint + n), 12, '0') || '7000' || lpad(to_hex(n), 16, '8'))::uuid`;
  await dataSource.query(
    `INSERT INTO events (id, event_id, event_type, event_source, origin, event_data, broadcaster_user_id, user_id, user_name)
     SELECT ${id}, 'filled-' || n, 'channel-follow', 'PlatformSub', 'platform',
       json_build_object('user_id', 100000 + n % 5000, 'user_name', 'Viewer_' || n % 5000, 'broadcaster_user_id', '4711'),
       '4711', (100000 + n % 5000)::text, 'viewer_' || n % 5000
     FROM generate_series(1, ${events}) AS n`,
  );
  await dataSource.query(
    `INSERT INTO received_messages (key, event_id) SELECT md5(n::text)::uuid, ${id} FROM generate_series(1, ${events}) AS n`,
  );
  await dataSource.query('VACUUM ANALYZE');
  await dataSource.destroy();
}
