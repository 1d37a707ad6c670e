import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventsStreamName, parseStreamDescription } from '@stream-events/contracts';
import { connectNats } from '@stream-events/messaging';
import type { NatsMember, ServiceProcess } from '@stream-events/testing';
import { TestBed, type LoadSize } from '../chaos/test-bed.js';
import { waitFor } from '../measure/progress.js';
import { formatSeconds } from '../measure/report.js';
import { startPlatformSide } from '../system/platform-side.js';
import { startSystem } from '../system/system.js';
import { startClusterServers, type ClusterServers } from './cluster-servers.js';

/** Less than in `npm run chaos`, because five servers and nine services share the machine. */
export const clusterLoad: LoadSize = { perSecond: 80, clients: 16 };

const requestLimitMs = 2_000;
const pollMs = 200;
const readyLimitMs = 60_000;

/** Two instances of every service on the cluster, under load. Its methods read the cluster's state. */
export class ClusterBed {
  private constructor(
    readonly bed: TestBed<ClusterServers>,
    private readonly operator: NatsConnection,
    private readonly stops: readonly (() => Promise<void>)[],
  ) {}

  static async start(): Promise<ClusterBed> {
    const servers = await startClusterServers();
    const stops: (() => Promise<void>)[] = [() => servers.stop()];
    try {
      const databaseUrl = await servers.createDatabase('cluster');
      const environment = { NATS_REPLICAS: '3', INGEST_MAX_GB: '1' };
      const system = await startSystem(servers, databaseUrl, { gateways: 2, events: 2, environment });
      stops.push(() => system.stop());
      const platform = await startPlatformSide(servers, databaseUrl, system);
      stops.push(() => platform.stop());
      const others = [...platform.connectors, ...platform.monitors];
      const bed = await TestBed.of({ servers, databaseUrl, system, others, load: clusterLoad });
      stops.push(() => bed.close());
      const urls = servers.nats.urlFor('events').split(',');
      const operator = await connectNats({ urls, name: 'cluster-bed', account: 'EVENTS' });
      stops.push(() => operator.close());
      return new ClusterBed(bed, operator, stops);
    } catch (error) {
      for (const stop of stops.reverse()) await stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const stop of [...this.stops].reverse()) await stop();
  }

  get servers(): ClusterServers {
    return this.bed.servers;
  }

  /** The nats-server that leads the EVENTS stream. */
  async findLeader(): Promise<NatsMember> {
    const find = async (): Promise<NatsMember | undefined> => {
      const info = await this.readStream();
      return this.servers.cluster.members.find(({ name }) => name === info?.cluster?.leader);
    };
    return existing(
      await waitFor(find, { limitMs: readyLimitMs, everyMs: pollMs }),
      'a leader of the EVENTS stream',
    );
  }

  /** A nats-server that has a replica of the EVENTS stream and does not lead the stream. */
  async findFollower(): Promise<NatsMember> {
    const leader = await this.findLeader();
    return existing(
      this.servers.cluster.members.find((member) => member !== leader),
      'a follower',
    );
  }

  /** Measures the time until all replicas of the EVENTS stream are up to date. */
  async measureReplicas(): Promise<void> {
    const isComplete = async (): Promise<true | undefined> => {
      const { replicas = [] } = (await this.readStream())?.cluster ?? {};
      return replicas.length === 2 && replicas.every(({ current }) => current) ? true : undefined;
    };
    await this.measureUntil('replicas complete', isComplete);
  }

  /** Measures the time until every instance of every service is ready. */
  async measureReady(): Promise<void> {
    const isReady = async (): Promise<true | undefined> => {
      const answers = await Promise.all(this.bed.services.map(isServiceReady));
      return answers.every(Boolean) ? true : undefined;
    };
    await this.measureUntil('all services ready', isReady);
  }

  /** Epoch of the EVENTS stream. The events service sets a new one when the stream has lost events. */
  async readEpoch(): Promise<string | undefined> {
    const read = async (): Promise<string | undefined> =>
      parseStreamDescription((await this.readStream())?.config.description ?? '')?.epoch;
    return waitFor(read, { limitMs: readyLimitMs, everyMs: pollMs });
  }

  private async measureUntil(column: string, look: () => Promise<true | undefined>): Promise<void> {
    const startedAt = performance.now();
    if (await waitFor(look, { limitMs: readyLimitMs, everyMs: pollMs }))
      this.bed.measure(column, formatSeconds(performance.now() - startedAt));
    else this.bed.find(`${column}: not after ${readyLimitMs / 1_000} s`);
  }

  /** Returns undefined while the EVENTS stream has no leader. */
  private async readStream(): Promise<StreamInfo | undefined> {
    const options = { checkAPI: false, timeout: requestLimitMs };
    try {
      return await (await jetstreamManager(this.operator, options)).streams.info(eventsStreamName);
    } catch {
      return undefined;
    }
  }
}

async function isServiceReady({ adminUrl }: ServiceProcess): Promise<boolean> {
  try {
    return (await fetch(`${adminUrl}/health/ready`, { signal: AbortSignal.timeout(requestLimitMs) })).ok;
  } catch {
    return false;
  }
}

function existing<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`cannot find ${what}`);
  return value;
}
