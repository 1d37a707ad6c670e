import { measure } from '../bench/measurement.js';
import type { Subject } from '../bench/subject.js';
import type { LoadKind } from '../load/request-maker.js';
import type { Servers } from '../system/servers.js';
import type { Run } from './run.js';

const connections = 64;

/** Sends requests of one kind over 64 connections, each with one request in flight. */
export async function measureRequests(
  subject: Subject,
  servers: Servers,
  load: { kind: LoadKind; warmUpSeconds: number; seconds: number },
): Promise<Run> {
  const { perSecond, latencyMs, failed, cpuMicroseconds, eventsPerBatch } = await measure(subject, servers, {
    connections,
    ...load,
  });
  const { load: _, ...ofServices } = cpuMicroseconds;
  return {
    cpuMicroseconds: ofServices,
    perSecond,
    p99: latencyMs.p99,
    failed: Object.values(failed).reduce((sum, count) => sum + count, 0),
    eventsPerBatch,
  };
}
