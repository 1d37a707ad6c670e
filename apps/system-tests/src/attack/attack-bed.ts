import { setTimeout as wait } from 'node:timers/promises';
import { startLoadProcess, startOpenLoop, type Load } from '../load/load.js';
import type { LoadKind } from '../load/request-maker.js';
import type { OpenLoopCounts } from '../load/open-loop-generator.js';
import { memoryMegabytes } from '../measure/processes.js';
import { say } from '../measure/progress.js';
import { runSql, startServers, type Servers } from '../system/servers.js';
import { startSystem, type System } from '../system/system.js';
import type { AttackerCounts, AttackerOptions } from './attacker.js';
import type { Attack, AttackSize } from './attacks.js';

/** The load of clients that do not attack: platform messages and events of clients, from an address of their own. */
export type Window = Record<LoadKind, OpenLoopCounts>;

/** Windows without and with an attack, in alternation. */
export interface AttackResult {
  attack: Attack;
  size: AttackSize;
  quiet: Window[];
  attacked: Window[];
  attackers: AttackerCounts[];
  /** The most memory that the gateway used while it was attacked, in MiB. */
  gatewayMegabytes: number;
}

/** The duration of an attack. */
export interface AttackPace {
  rounds: number;
  windowSeconds: number;
}

const perSecond: Record<LoadKind, number> = { notifications: 300, posts: 50 };
/** Connections of each load. Their last responses are not counted when the load stops. */
export const connectionsPerLoad = 64;
// The gateway has noticed by then that the connections of an attack are closed.
const settleMs = 3_000;

/** A gateway and an events service under a steady load, and the attacks on them. */
export class AttackBed {
  private accepted = 0;
  private isLoadStopped = false;

  private constructor(
    readonly servers: Servers,
    private readonly databaseUrl: string,
    private readonly system: System,
    private readonly loads: Record<LoadKind, Load<OpenLoopCounts>>,
  ) {}

  /** Starts the services of this checkout, or of another one. */
  static async start(checkout?: string): Promise<AttackBed> {
    const servers = await startServers();
    try {
      const databaseUrl = await servers.createDatabase('attack');
      const system = await startSystem(servers, databaseUrl, {
        gateways: 1,
        events: 1,
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
      const loads = { notifications: start('notifications'), posts: start('posts') };
      const bed = new AttackBed(servers, databaseUrl, system, loads);
      // V8 compiles hot code within a few seconds under load.
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

  /** Measures windows without and with an attack in turn, so that other load on the machine affects both. */
  async run(attack: Attack, size: AttackSize, { rounds, windowSeconds }: AttackPace): Promise<AttackResult> {
    const result: AttackResult = {
      attack,
      size,
      quiet: [],
      attacked: [],
      attackers: [],
      gatewayMegabytes: 0,
    };
    for (let round = 1; round <= rounds; round += 1) {
      result.quiet.push(await this.measure(windowSeconds));
      const attacker = this.attackWith({ ...size, attack: attack.name, port: this.port });
      result.attacked.push(await this.measure(windowSeconds));
      result.attackers.push(await attacker.takeCounts());
      result.gatewayMegabytes = Math.max(result.gatewayMegabytes, memoryMegabytes(this.gatewayPid));
      await attacker.stop();
      await wait(settleMs);
      await this.take();
      say(
        `${attack.name}, ${size.addresses} × ${size.perAddress}, round ${round}/${rounds}: ${describe(result)}`,
      );
    }
    return result;
  }

  /** Ends the load, and compares the events that were accepted with those that are stored. */
  async checkStored(): Promise<{ accepted: number; stored: number }> {
    await this.take();
    await this.stopLoads();
    const [row] = await runSql<{ count: string }>(this.databaseUrl, 'SELECT count(*) FROM events.events');
    return { accepted: this.accepted, stored: Number(row?.count) };
  }

  private get port(): number {
    return Number(new URL(this.system.gateways[0]?.url ?? '').port);
  }

  private get gatewayPid(): number {
    return this.system.gateways[0]?.pid ?? 0;
  }

  private attackWith(options: AttackerOptions): Load<AttackerCounts> {
    return startLoadProcess(new URL('attacker.js', import.meta.url), options);
  }

  private async measure(seconds: number): Promise<Window> {
    await this.take();
    await wait(seconds * 1_000);
    return this.take();
  }

  private async take(): Promise<Window> {
    const { notifications, posts } = this.loads;
    const window = { notifications: await notifications.takeCounts(), posts: await posts.takeCounts() };
    this.accepted += window.notifications.succeeded + window.posts.succeeded;
    return window;
  }

  private async stopLoads(): Promise<void> {
    if (this.isLoadStopped) return;
    this.isLoadStopped = true;
    await Promise.all(Object.values(this.loads).map((load) => load.stop()));
  }
}

function describe({ quiet, attacked, attackers }: AttackResult): string {
  const last = { quiet: quiet.at(-1), attacked: attacked.at(-1), attackers: attackers.at(-1) };
  return JSON.stringify(last, (_key, value: unknown) =>
    typeof value === 'number' ? Math.round(value * 10) / 10 : value,
  );
}
