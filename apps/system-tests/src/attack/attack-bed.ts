import { setTimeout as wait } from 'node:timers/promises';
import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { eventsStreamName, parseStreamDescription } from '@stream-events/contracts';
import { closeNats, connectNats } from '@stream-events/messaging';
import { startLoad, startLoadProcess, startOpenLoop, type Load } from '../load/load.js';
import type { Credentials, LoadKind } from '../load/request-maker.js';
import type { OpenLoopCounts } from '../load/open-loop-generator.js';
import { memoryMegabytes } from '../measure/processes.js';
import { say } from '../measure/progress.js';
import { forkServer, type ForkedServer } from '../system/forked-server.js';
import { runSql, startServers, type Servers } from '../system/servers.js';
import { registerUsers, startSystem, type System } from '../system/system.js';
import type { AttackerCounts, AttackerOptions } from './attacker.js';
import type { Attack, AttackSize } from './attacks.js';
import type { MemberCounts, MemberOptions } from './member.js';
import type { MemberAttack } from './members.js';
import type { Window } from './windows.js';

/** Results of alternating windows: no attack, an attack on a bare server beside the gateway, and an attack on the gateway. */
export interface AttackResult {
  attack: Attack;
  size: AttackSize;
  quiet: Window[];
  beside: Window[];
  attacked: Window[];
  attackers: AttackerCounts[];
  /** The gateway's private memory in MiB, measured at the end of each window in `attacked`: the highest value. */
  gatewayMegabytes: number;
}

/** Results of alternating windows: without and with a member that sends requests in a loop. */
export interface MemberResult {
  attack: MemberAttack;
  quiet: Window[];
  /**
   * Windows in which the member attacks a bare server instead of the gateway. Empty unless the gateway refuses most of the member's
   * requests.
   */
  beside: Window[];
  attacked: Window[];
  responses: MemberCounts;
  /** Bytes of events that the member has stored. */
  storedBytes: number;
  maxStoredBytes: number;
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
/** Number of loads that send events: two during the attacks, and one that fills the stream first. */
export const loadCount = 3;
/** Connections per load. When a load stops, each of them can have one event in flight that was stored but not counted. */
export const connectionsPerLoad = 64;
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
    private readonly bareServer: ForkedServer,
    private readonly loads: Record<LoadKind, Load<OpenLoopCounts>>,
  ) {}

  /** @param checkout a built checkout; default: this one */
  static async start(checkout?: string): Promise<AttackBed> {
    const servers = await startServers();
    try {
      const databaseUrl = await servers.createDatabase('attack');
      const system = await startSystem(servers, databaseUrl, {
        gateways: 1,
        events: 1,
        environment,
        ...(checkout !== undefined && { checkout }),
      });
      const { webhookSecret, token } = system;
      const ports = system.gateways.map(({ url }) => Number(new URL(url).port));
      const start = (kind: LoadKind): Load<OpenLoopCounts> =>
        startOpenLoop({
          kind,
          ports,
          webhookSecret,
          token,
          connections: connectionsPerLoad,
          perSecond: perSecond[kind],
        });
      const filled = await fill(ports, { webhookSecret, token });
      const bareServer = await forkServer(new URL('bare-server.js', import.meta.url), []);
      const loads = { notifications: start('notifications'), posts: start('posts'), lists: start('lists') };
      const bed = new AttackBed(servers, databaseUrl, system, bareServer, loads);
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
    await this.bareServer.stop();
    await this.system.stop();
    await this.servers.stop();
  }

  /** Alternates the three kinds of windows, so that other load on the machine affects all equally. */
  async run(attack: Attack, size: AttackSize, { rounds, windowSeconds }: AttackPace): Promise<AttackResult> {
    const result: AttackResult = {
      attack,
      size,
      quiet: [],
      beside: [],
      attacked: [],
      attackers: [],
      gatewayMegabytes: 0,
    };
    for (let round = 1; round <= rounds; round += 1) {
      result.quiet.push(await this.measure(windowSeconds));
      const options = { ...size, attack: attack.name };
      const elsewhere = startAttacker({ ...options, port: this.bareServer.port });
      result.beside.push(await this.measure(windowSeconds));
      await this.end(elsewhere);
      const attacker = startAttacker({ ...options, port: this.port });
      result.attacked.push(await this.measure(windowSeconds));
      result.attackers.push(await attacker.takeCounts());
      result.gatewayMegabytes = Math.max(result.gatewayMegabytes, memoryMegabytes(this.gatewayPid));
      await this.end(attacker);
      say(
        `${attack.name}, ${size.addresses} × ${size.perAddress}, round ${round}/${rounds}: ${describe(result)}`,
      );
    }
    return result;
  }

  /** Alternates windows without and with a member in a loop. */
  async runMember(attack: MemberAttack, { rounds, windowSeconds }: AttackPace): Promise<MemberResult> {
    const { tokens } = await registerUsers(this.system, 1, `member-${attack.name.replaceAll(/\W/g, '-')}`);
    const options = { attack: attack.name, token: tokens[0] ?? '', position: await this.findStart() };
    const windows = { quiet: [] as Window[], beside: [] as Window[], attacked: [] as Window[] };
    const responses: MemberCounts = {};
    for (let round = 1; round <= rounds; round += 1) {
      windows.quiet.push(await this.measure(windowSeconds));
      if (attack.isRefused) {
        const elsewhere = startMember({ ...options, port: this.bareServer.port });
        windows.beside.push(await this.measure(windowSeconds));
        await this.end(elsewhere);
      }
      const member = startMember({ ...options, port: this.port });
      windows.attacked.push(await this.measure(windowSeconds));
      addCounts(responses, await member.takeCounts());
      await this.end(member);
      say(`${attack.name}, round ${round}/${rounds}: ${print({ ...windows, responses })}`);
    }
    return { attack, ...windows, responses, ...(await this.measureStored()) };
  }

  /** Position just before the stream's first event. */
  private async findStart(): Promise<string> {
    const { description = '' } = (await this.readStream()).config;
    return `${parseStreamDescription(description)?.epoch}-0-00000000`;
  }

  private async readStream(): Promise<StreamInfo> {
    const connection = await connectNats({
      urls: [this.servers.nats.urlFor('events')],
      name: 'attack',
      account: 'EVENTS',
    });
    try {
      return await (await jetstreamManager(connection)).streams.info(eventsStreamName);
    } finally {
      await closeNats(connection);
    }
  }

  private async measureStored(): Promise<
    Pick<MemberResult, 'storedBytes' | 'maxStoredBytes' | 'streamMaxBytes'>
  > {
    const rows = await runSql<{ bytes: string }>(
      this.databaseUrl,
      "SELECT sum(length(event_data::text) + 300) AS bytes FROM events.events WHERE event_type = 'member'",
    );
    return {
      storedBytes: Number(rows[0]?.bytes ?? 0),
      maxStoredBytes: Number(environment.MAX_STORED_MB_PER_DAY) * 1024 ** 2,
      streamMaxBytes: (await this.readStream()).config.max_bytes,
    };
  }

  /** Stops the loads. Returns the numbers of accepted and stored events. */
  async checkStored(): Promise<{ accepted: number; stored: number }> {
    await this.take();
    await this.stopLoads();
    const [row] = await runSql<{ count: string }>(
      this.databaseUrl,
      // Only the load's events. Members' events have another type.
      "SELECT count(*) FROM events.events WHERE event_type = 'channel-follow'",
    );
    return { accepted: this.accepted, stored: Number(row?.count) };
  }

  private get port(): number {
    return Number(new URL(this.system.gateways[0]?.url ?? '').port);
  }

  private get gatewayPid(): number {
    return this.system.gateways[0]?.pid ?? 0;
  }

  /** Ends an attack. Waits until the gateway has closed the attack's connections, and discards the counts of this time. */
  private async end(attacker: Load<unknown>): Promise<void> {
    await attacker.stop();
    await wait(settleMs);
    await this.take();
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

  private async stopLoads(): Promise<void> {
    if (this.isLoadStopped) return;
    this.isLoadStopped = true;
    await Promise.all(Object.values(this.loads).map((load) => load.stop()));
  }
}

function startAttacker(options: AttackerOptions): Load<AttackerCounts> {
  return startLoadProcess(new URL('attacker.js', import.meta.url), options);
}

function startMember(options: MemberOptions): Load<MemberCounts> {
  return startLoadProcess(new URL('member.js', import.meta.url), options);
}

/** Fills the stream. Returns the number of accepted events. */
async function fill(ports: readonly number[], credentials: Credentials): Promise<number> {
  const load = startLoad({ kind: 'notifications', ports, connections: connectionsPerLoad, ...credentials });
  let accepted = 0;
  while (accepted < filledEvents) {
    await wait(500);
    accepted += (await load.takeCounts()).succeeded;
  }
  await load.stop();
  return accepted;
}

function addCounts(sums: MemberCounts, counts: MemberCounts): void {
  for (const [action, byStatus] of Object.entries(counts))
    for (const [status, count] of Object.entries(byStatus)) {
      const sum = (sums[action] ??= {});
      sum[status] = (sum[status] ?? 0) + count;
    }
}

function describe({ quiet, beside, attacked, attackers }: AttackResult): string {
  return print({
    quiet: quiet.at(-1),
    beside: beside.at(-1),
    attacked: attacked.at(-1),
    attackers: attackers.at(-1),
  });
}

function print(facts: object): string {
  return JSON.stringify(facts, (_key, value: unknown) =>
    typeof value === 'number' ? Math.round(value * 10) / 10 : value,
  );
}
