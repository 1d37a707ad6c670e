import { connectDatabase } from '@stream-events/database';
import type { TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { schema } from '../src/events.database.js';
import { ReplaceEventIndexes1766150000000 } from '../src/migrations/1766150000000-replace-event-indexes.js';
import { PartitionsRepository } from '../src/store/partitions.repository.js';

/**
 * Prepares a database as versions before the index builder left it: with the tables and indexes of their migrations, and a partition for
 * each time.
 */
export function asOldStore(
  times: readonly number[],
  fill: (old: DataSource) => Promise<unknown> = () => Promise.resolve(),
): (database: TestDatabase) => Promise<void> {
  const { entities } = schema;
  const migrations = schema.migrations.slice(0, schema.migrations.indexOf(ReplaceEventIndexes1766150000000));
  return async (database) => {
    const url = database.urlFor(schema.name);
    const pool = { url, schema: schema.name, applicationName: 'old-events', poolSize: 1 };
    const old = await connectDatabase({ ...pool, entities, migrations });
    const partitions = new PartitionsRepository(old);
    for (const time of times) await partitions.ensureAhead(time);
    await fill(old);
    await old.destroy();
  };
}
