import type { NatsMember, ServiceProcess } from '@stream-events/testing';
import { ScenarioRun, type LoadSize } from '../chaos/scenario-run.js';
import type { StreamState } from '../chaos/stream-reader.js';
import { startTestBed, type TestBed } from '../chaos/test-bed.js';
import { waitFor } from '../measure/progress.js';
import { formatSeconds } from '../measure/report.js';
import { startPlatformSide } from '../system/platform-side.js';
import { startClusterServers, type ClusterServers } from './cluster-servers.js';

/** Less than in `npm run chaos`, because five servers and nine services share the machine. */
export const clusterLoad: LoadSize = { perSecond: 80, clients: 16 };

const requestLimitMs = 2_000;
const patience = { limitMs: 60_000, everyMs: 200 };

/** Two instances of every service on the cluster, under load. Its methods read the cluster's state. */
export class ClusterRun extends ScenarioRun<ClusterServers> {
  /** The caller stops the bed. */
  static async start(): Promise<ClusterRun> {
    const environment = { NATS_REPLICAS: '3', INGEST_MAX_GB: '1' };
    const size = { gateways: 2, events: 2, environment };
    const bed: TestBed<ClusterServers> = await startTestBed(await startClusterServers(), 'cluster', size);
    const { servers, databaseUrl, system } = bed;
    try {
      const side = await startPlatformSide(servers, databaseUrl, system);
      bed.onStop(() => side.stop());
      const services = [...system.gateways, ...system.events, ...side.connectors, ...side.monitors];
      return new ClusterRun(bed, clusterLoad, services);
    } catch (error) {
      await bed.stop();
      throw error;
    }
  }

  /** The nats-server that leads the EVENTS stream, or one that has another replica of it. */
  async findMember(role: 'leader' | 'follower'): Promise<NatsMember> {
    const find = async (): Promise<NatsMember | undefined> => {
      const leader = (await this.readState())?.leader;
      const { members } = this.bed.servers.cluster;
      const isLeader = role === 'leader';
      return members.find(({ name }) => leader !== undefined && (name === leader) === isLeader);
    };
    const member = await waitFor(find, patience);
    if (!member) throw new Error(`cannot find a ${role} of the EVENTS stream`);
    return member;
  }

  /** Measures the time until all replicas of the EVENTS stream are up to date. */
  async measureReplicas(): Promise<void> {
    await this.measureUntil('replicas complete', async () => {
      const { known = 0, current = 0 } = (await this.readState())?.replicas ?? {};
      return known === 2 && current === 2;
    });
  }

  /** Measures the time until every instance of every service is ready. */
  async measureReady(): Promise<void> {
    await this.measureUntil('all services ready', async () =>
      (await Promise.all(this.services.map(isServiceReady))).every(Boolean),
    );
  }

  /** Epoch of the EVENTS stream. The events service sets a new one when the stream has lost events. */
  readEpoch(): Promise<string | undefined> {
    return waitFor(async () => (await this.readState())?.epoch, patience);
  }

  private async measureUntil(column: string, isMet: () => Promise<boolean>): Promise<void> {
    const startedAt = performance.now();
    if (await waitFor(async () => (await isMet()) || undefined, patience))
      this.measure(column, formatSeconds(performance.now() - startedAt));
    else this.find(`${column}: not after ${patience.limitMs / 1_000} s`);
  }

  /** Returns undefined while the EVENTS stream has no leader. */
  private readState(): Promise<StreamState | undefined> {
    return this.bed.stream.readState().catch(() => undefined);
  }
}

async function isServiceReady({ adminUrl }: ServiceProcess): Promise<boolean> {
  try {
    return (await fetch(`${adminUrl}/health/ready`, { signal: AbortSignal.timeout(requestLimitMs) })).ok;
  } catch {
    return false;
  }
}
