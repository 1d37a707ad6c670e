import { randomBytes } from 'node:crypto';
import type { Credentials } from '../load/request-maker.js';
import { forkServer } from '../system/forked-server.js';
import type { ServerAddresses } from '../system/servers.js';
import { startSystem, type System } from '../system/system.js';

/** What is measured: the raw ceiling, or the system with one or two processes per service. */
export type SubjectName = 'ceiling' | '1 + 1' | '2 + 2';

export interface Counters {
  /** Events that the stream has acknowledged. */
  published: number;
  /** Batches that the events services have received. */
  batches: number;
}

/** A measured system, with its processes by role. */
export interface Subject extends Credentials {
  ports: number[];
  pids: Record<string, number[]>;
  /** Numbers so far. Undefined if the subject publishes nothing. */
  readCounters?: () => Promise<Counters>;
  stop(): Promise<void>;
}

/** @param checkout a built checkout; default: this one */
export async function startSubject(
  name: SubjectName,
  servers: ServerAddresses,
  databaseUrl: string,
  checkout?: string,
): Promise<Subject> {
  if (name === 'ceiling') return startCeilingSubject(databaseUrl);
  const instances = name === '1 + 1' ? 1 : 2;
  const size = { gateways: instances, events: instances, checkout };
  return subjectOf(await startSystem(servers, databaseUrl, size));
}

export function subjectOf(system: System): Subject {
  const { webhookSecret, token, gateways, events } = system;
  const total = async (metric: string): Promise<number> => {
    const counts = await Promise.all(events.map((process) => process.metric(metric)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  return {
    webhookSecret,
    token,
    ports: gateways.map(({ url }) => Number(new URL(url).port)),
    pids: { gateway: gateways.map(({ pid }) => pid), events: events.map(({ pid }) => pid) },
    readCounters: async () => ({
      published: await total('events_published_total'),
      batches: await total('events_ingest_batch_events_count'),
    }),
    stop: () => system.stop(),
  };
}

async function startCeilingSubject(databaseUrl: string): Promise<Subject> {
  const webhookSecret = randomBytes(16).toString('hex');
  const ceiling = await forkServer(new URL('ceiling.js', import.meta.url), [databaseUrl, webhookSecret]);
  return {
    webhookSecret,
    token: '',
    ports: [ceiling.port],
    pids: { ceiling: [ceiling.pid] },
    stop: () => ceiling.stop(),
  };
}
