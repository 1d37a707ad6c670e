import { MaintenanceSessions } from '@stream-events/database';
import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { schema } from '../src/events.database.js';
import { EventListController } from '../src/event-list/event-list.controller.js';
import { PartitionRemover } from '../src/retention/partition-remover.service.js';
import { RetentionRepository } from '../src/retention/retention.repository.js';
import { Retention } from '../src/retention/retention.service.js';
import { PartitionsRepository } from '../src/store/partitions.repository.js';
import { RetentionPolicy } from '../src/store/retention-policy.js';
import type { EventWriter } from '../src/store/event-writer.service.js';
import type { EventStore } from './event-store.js';

/** How sessions that remove partitions appear in pg_stat_activity. */
export const retentionSession = 'events-retention-test';

/** The parts of an events service with a retention period. Several instances can share a store. */
export interface RetainingInstance {
  policy: RetentionPolicy;
  partitions: PartitionsRepository;
  records: RetentionRepository;
  sessions: MaintenanceSessions;
  remover: PartitionRemover;
  retention: Retention;
  writer: EventWriter;
  reader: EventListController;
  metrics: Registry;
}

export function retainFor(store: EventStore, days: number): RetainingInstance {
  const logger = createLogger('test', 'silent');
  const metrics = new Registry();
  const policy = new RetentionPolicy(days);
  const partitions = new PartitionsRepository(store.dataSource, policy);
  const records = new RetentionRepository(store.dataSource);
  const sessions = new MaintenanceSessions({
    url: store.database.urlFor(schema.name),
    schema: schema.name,
    applicationName: retentionSession,
  });
  const remover = new PartitionRemover(partitions, records, logger, metrics);
  return {
    policy,
    partitions,
    records,
    sessions,
    remover,
    retention: new Retention(policy, sessions, remover, store.deadLetters, logger),
    writer: store.createWriter(partitions, metrics),
    reader: new EventListController(store.list),
    metrics,
  };
}

/** Runs one pass of retention. Retries, because the session of an earlier pass may not have ended yet. */
export async function runPass({ retention }: RetainingInstance): Promise<void> {
  await eventually(async () => expect(await retention.run(new AbortController().signal)).toBe(true));
}

/** Drops all partitions, and clears the store and the record of retention. */
export async function dropPartitions(store: EventStore): Promise<void> {
  await store.clear();
  for (const { name } of await store.partitions.readCatalog())
    await store.dataSource.query(`DROP TABLE ${name}`);
  await store.dataSource.query('UPDATE retention SET removing = NULL, removed_before = NULL');
}
