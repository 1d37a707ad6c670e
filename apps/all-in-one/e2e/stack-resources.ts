import { Logger } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import { natsUsers } from '@stream-events/contracts';
import { connectNats, RequestClient } from '@stream-events/messaging';
import { createTestDatabase, startTestNats, type TestDatabase, type TestNats } from '@stream-events/testing';
import pg from 'pg';

/** A test's servers and its own connections to them. */
export interface Resources {
  testDatabase: TestDatabase;
  nats: TestNats;
  database: InstanceType<typeof pg.Client>;
  client: RequestClient;
  subscriber: NatsConnection;
  /** Run in reverse order to stop everything that was started. */
  stops: (() => Promise<unknown>)[];
}

/** Each test file has its own database and NATS server. */
export async function startResources(): Promise<Resources> {
  Logger.overrideLogger(false); // keeps Nest's NATS client from logging every connection
  const stops: Resources['stops'] = [];
  try {
    const testDatabase = await createTestDatabase();
    stops.push(() => testDatabase.drop());
    const nats = await startTestNats(Object.values(natsUsers));
    stops.push(() => nats.stop());
    const database = new pg.Client(testDatabase.url);
    await database.connect();
    stops.push(() => database.end());
    const client = new RequestClient({ urls: [nats.urlFor('gateway')], name: 'test' });
    await client.connect();
    stops.push(() => client.close());
    const subscriber = await connectNats({ urls: [nats.urlFor('subscriber')], name: 'test-subscriber' });
    stops.push(() => subscriber.close());
    return { testDatabase, nats, database, client, subscriber, stops };
  } catch (error) {
    await runAll(stops.reverse());
    throw error;
  }
}

/** Runs every step even if some fail, then throws all errors. */
export async function runAll(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, 'cannot stop all parts of the stack');
}
