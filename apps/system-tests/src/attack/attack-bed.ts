import { setTimeout as wait } from 'node:timers/promises';
import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { eventsStreamName, parseStreamDescription } from '@stream-events/contracts';
import { closeNats, connectNats } from '@stream-events/messaging';
import { startLoad, startLoadProcess, startOpenLoop, type Load } from '../load/load.js';
import type { LoadKind } from '../load/request-maker.js';
import type { LoadCounts } from '../load/response-counter.js';
import { memoryMegabytes } from '../measure/processes.js';
import { say } from '../measure/progress.js';
import { runSql, startServers, type Servers } from '../system/servers.js';
import { registerUsers, startSystem, type System } from '../system/system.js';
import type { AttackerCounts, AttackerOptions } from './attacker.js';
import type { Attack, Member } from './attacks.js';

/** Counts of the other clients during one window, by kind of load. */
export type Window = Record<LoadKind, LoadCounts>;

/** Results of alternating windows without and with an attack. */
export interface AttackResult {
  attack: Attack;
  addresses: number;
  quiet: Window[];
  attacked: Window[];
  /** At the end of each attacked window. */
  attackers: AttackerCounts[];
  /** The gateway's private memory in MiB, measured at the end of each attacked window: the highest value. */
  gatewayMegabytes: number;
}

/** What the attacks left in the store and in the stream. */
export interface Stored {
  /** Events of the load. */
  accepted: number;
  stored: number;
  /** Bytes of events that members have stored, and the limit for each of them. */
  memberBytes: number;
  maxMemberBytes: number;
  streamMaxBytes: number;
}

export interface AttackPace {
  rounds: number;
  windowSeconds: number;
}

const perSecond: Record<LoadKind, number> = { notifications: 300, posts: 30, lists: 20 };
// Equal to the gateway's defaults.
const environment = { RATE_LIMIT_REQUESTS: '200', RATE_LIMIT_WRITES: '50', MAX_STORED_MB_PER_DAY: '200' };
// More than the ring buffer holds: clients that catch up must read from the stream.
const filledEvents = 60_000;
const connections = 64;
/**
 * Highest number of events that are stored but not counted as accepted. Three loads send events: two during the attacks, and one that fills
 * the stream first. When a load stops, each of its connections can have one event in flight.
 */
export const maxUncounted = 3 * connections;
// Time that the gateway needs to notice that the attack's connections are closed.
const settleMs = 3_000;

/** A gateway and an events service under steady load, with methods to attack them. */
export class AttackBed {
  private accepted = 0;
  private isLoadStopped = false;

  private constructor(
    readonly servers: Servers,
    private readonly databaseUrl: string,
    private readonly system: System,
    private readonly loads: Record<LoadKind, Load>,
  ) {}

  /** @param checkout a built checkout; default: this one */
  static async start(checkout?: string): Promise<AttackBed> {
    const servers = await startServers();
    try {
      const databaseUrl = await servers.createDatabase('attack');
      const size = { gateways: 1, events: 1, environment, ...(checkout !== undefined && { checkout }) };
      const system = await startSystem(servers, databaseUrl, size);
      const { webhookSecret, token } = system;
      const ports = system.gateways.map(({ url }) => Number(new URL(url).port));
      const target = { ports, webhookSecret, token, connections };
      const start = (kind: LoadKind): Load => startOpenLoop({ kind, perSecond: perSecond[kind], ...target });
      const filled = await fill(startLoad({ kind: 'notifications', ...target }));
      const loads = { notifications: start('notifications'), posts: start('posts'), lists: start('lists') };
      const bed = new AttackBed(servers, databaseUrl, system, loads);
      bed.accepted = filled;
      // Warm-up: under load, V8 compiles hot code within a few seconds.
      await bed.measure(5);
      return bed;
    } catch (error) {
      await servers.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.stopLoads();
    await this.system.stop();
    await this.servers.stop();
  }

  /** Alternates the windows, so that other load on the machine affects both kinds equally. */
  async run(attack: Attack, addresses: number, { rounds, windowSeconds }: AttackPace): Promise<AttackResult> {
    const result: AttackResult = {
      attack,
      addresses,
      quiet: [],
      attacked: [],
      attackers: [],
      gatewayMegabytes: 0,
    };
    const [gateway] = this.system.gateways;
    const port = Number(new URL(gateway?.url ?? '').port);
    const options = { attack: attack.name, addresses, port, member: await this.makeMember(attack) };
    for (let round = 1; round <= rounds; round += 1) {
      result.quiet.push(await this.measure(windowSeconds));
      const attacker = startAttacker(options);
      result.attacked.push(await this.measure(windowSeconds));
      result.attackers.push(await attacker.takeCounts());
      result.gatewayMegabytes = Math.max(result.gatewayMegabytes, memoryMegabytes(gateway?.pid ?? 0));
      await attacker.stop();
      // Discard the counts of this time.
      await this.measure(settleMs / 1_000);
      say(`${attack.name}, ${addresses} addresses, round ${round}/${rounds}: ${printRound(result)}`);
    }
    return result;
  }

  /** Stops the loads, and counts what is stored. */
  async finish(): Promise<Stored> {
    await this.take();
    await this.stopLoads();
    const [row] = await runSql<{ stored: string; bytes: string }>(
      this.databaseUrl,
      `SELECT count(*) FILTER (WHERE event_type = 'channel-follow') AS stored,
         coalesce(sum(length(event_data::text) + 300) FILTER (WHERE event_type = 'member'), 0) AS bytes
       FROM events.events`,
    );
    return {
      accepted: this.accepted,
      stored: Number(row?.stored),
      memberBytes: Number(row?.bytes),
      maxMemberBytes: Number(environment.MAX_STORED_MB_PER_DAY) * 1024 ** 2,
      streamMaxBytes: (await this.readStream()).config.max_bytes,
    };
  }

  private async stopLoads(): Promise<void> {
    if (this.isLoadStopped) return;
    this.isLoadStopped = true;
    await Promise.all(Object.values(this.loads).map((load) => load.stop()));
  }

  private async makeMember({ kind, name }: Attack): Promise<Member> {
    if (kind !== 'member') return { token: '', position: '' };
    const { tokens } = await registerUsers(this.system, 1, `member-${name.replaceAll(/\W/g, '-')}`);
    const { description = '' } = (await this.readStream()).config;
    return {
      token: tokens[0] ?? '',
      position: `${parseStreamDescription(description)?.epoch}-0-00000000`,
    };
  }

  private async readStream(): Promise<StreamInfo> {
    const urls = [this.servers.nats.urlFor('events')];
    const connection = await connectNats({ urls, name: 'attack', account: 'EVENTS' });
    try {
      return await (await jetstreamManager(connection)).streams.info(eventsStreamName);
    } finally {
      await closeNats(connection);
    }
  }

  private async measure(seconds: number): Promise<Window> {
    await this.take();
    await wait(seconds * 1_000);
    return this.take();
  }

  private async take(): Promise<Window> {
    const { notifications, posts, lists } = this.loads;
    const window = {
      notifications: await notifications.takeCounts(),
      posts: await posts.takeCounts(),
      lists: await lists.takeCounts(),
    };
    this.accepted += window.notifications.succeeded + window.posts.succeeded;
    return window;
  }
}

function startAttacker(options: AttackerOptions): Load<AttackerCounts> {
  return startLoadProcess(new URL('attacker.js', import.meta.url), options);
}

/** Fills the stream. Returns the number of accepted events. */
async function fill(load: Load): Promise<number> {
  let accepted = 0;
  while (accepted < filledEvents) {
    await wait(500);
    accepted += (await load.takeCounts()).succeeded;
  }
  await load.stop();
  return accepted;
}

function printRound({ quiet, attacked, attackers }: AttackResult): string {
  const facts = { quiet: quiet.at(-1), attacked: attacked.at(-1), attackers: attackers.at(-1) };
  return JSON.stringify(facts, (_key, value: unknown) =>
    typeof value === 'number' ? Math.round(value * 10) / 10 : value,
  );
}
