import { setTimeout as wait } from 'node:timers/promises';
import { waitFor } from '../measure/progress.js';
import { startPlatformSide, type PlatformSide } from '../system/platform-side.js';
import { targetsOf } from './fault-target.js';
import { noteOutcomes, Occurrences, untilNothingWaits } from './occurrences.js';
import type { FaultRun, Scenario } from './scenarios.js';
import { recoveryLimitMs } from './store-reader.js';

const closeCodes = [4000, 4001, 4002, 4003, 4004, 4005, 4006, 4007];
const reconnects = 5;
const cheersPerSecond = 20;
const pollMs = 200;
// Tolerance for the times in the status, which are whole seconds.
const slackMs = 1_000;

interface Status {
  subscriptions: Record<string, number>;
  delivery_gaps: { source: string; from: string; until: string | null }[];
}

/** Tests faults of an event socket. Unlike a webhook, a socket cannot reject a message to get it again. */
export const socketScenario: Scenario = {
  name: 'sockets',
  description:
    'A connector receives 20 events per second over a plain event socket. The platform closes the socket with each of its close codes, ' +
    'asks for reconnects, and falls silent; then nats-server is down for 60 s. Every event is stored once, except in periods for which ' +
    'the status reports that events may be missing. Reconnects and the outage must not cause such a period.',
  run: async (run, { kills, awayMs }) => {
    await run.load.pause();
    const { servers, databaseUrl, system } = run.bed;
    const environment = { PLATFORM_TRANSPORT: 'websocket' };
    const side = await startPlatformSide(servers, databaseUrl, system, environment);
    const sockets = new SocketBed(run, side);
    try {
      const channel = await sockets.connectChannel();
      const cheers = new Occurrences({
        type: 'channel.cheer',
        makeFields: () => ({ user_id: '1', bits: 1 }),
        channels: [channel],
        perSecond: cheersPerSecond,
        clients: 1,
        happen: async (type, event) => {
          await side.control('POST', '/occurrences', { type, event });
          return `user ${channel}`;
        },
      });
      try {
        for (const code of kills > 1 ? closeCodes : closeCodes.slice(0, 2))
          await sockets.lose({ action: 'close', code });
        await sockets.lose({ action: 'silence' });
        for (let count = 0; count < reconnects; count += 1) await sockets.reconnect();
        await sockets.cutOffNats(awayMs);
      } finally {
        await cheers.stop();
        await sockets.settle(cheers);
      }
    } finally {
      await side.stop();
    }
  },
};

/** A channel whose events arrive over a connector's event socket. */
class SocketBed {
  constructor(
    private readonly run: FaultRun,
    private readonly side: PlatformSide,
  ) {}

  /** Returns the id of a new channel that has connected its account. */
  async connectChannel(): Promise<string> {
    const { side, run } = this;
    await side.control('POST', '/limits', { device_interval_seconds: 1 });
    const login = `channel_${Date.now()}`;
    const { users } = await side.control<{ users: { id: string }[] }>('POST', '/users', { login });
    const connectionsPath = '/api/v1/platform/connections';
    const { user_code } = await run.bed.system.request<{ user_code: string }>('POST', connectionsPath);
    await side.control('POST', '/device-codes', { user_code, decision: 'allow', login });
    await this.until(isSubscribed);
    return users[0]?.id ?? '';
  }

  /** Breaks the socket. Resolves when a gap has been reported and has ended. */
  async lose(fault: object): Promise<void> {
    const before = await this.countGaps();
    this.run.countFault();
    await this.side.control('POST', '/sockets', fault);
    await this.until(
      (status) =>
        status.delivery_gaps.length > before &&
        status.delivery_gaps.every(({ until }) => until !== null) &&
        isSubscribed(status),
    );
  }

  async reconnect(): Promise<void> {
    await this.withoutGap('a reconnect', async () => {
      await this.side.control('POST', '/sockets', { action: 'reconnect' });
      await wait((10 / cheersPerSecond) * 1_000);
    });
  }

  async cutOffNats(awayMs: number): Promise<void> {
    await this.withoutGap('the outage of NATS', async () => {
      const nats = targetsOf('nats', this.run.bed.servers, this.run.bed.system);
      await Promise.all(nats.map((target) => target.stop()));
      await wait(awayMs);
      await Promise.all(nats.map((target) => target.start()));
      await untilNothingWaits(this.side.connectors);
    });
  }

  /** Waits until everything is stored, and passes the events to the checker. */
  async settle({ all }: Occurrences): Promise<void> {
    await untilNothingWaits(this.side.connectors);
    const { delivery_gaps: reported } = await this.status();
    const gaps = reported.map(({ source, from, until }) => ({
      source,
      from: Date.parse(from) - slackMs,
      until: until === null ? Infinity : Date.parse(until) + slackMs,
    }));
    noteOutcomes(all, gaps);
    this.run.addEntries(all.map(({ entry }) => entry));
  }

  private async withoutGap(what: string, act: () => Promise<void>): Promise<void> {
    const before = await this.countGaps();
    this.run.countFault();
    await act();
    await this.until(({ delivery_gaps: gaps }) => gaps.length >= before);
    const more = (await this.countGaps()) - before;
    if (more > 0) this.run.find(`${what} caused ${more} gaps`);
  }

  /** Polls a condition. Ignores failed requests, because they fail while NATS is down. */
  private async until(condition: (status: Status) => boolean): Promise<void> {
    let last: unknown;
    const isMet = async (): Promise<true | undefined> => {
      try {
        const status = await this.status();
        last = JSON.stringify(status);
        return condition(status) || undefined;
      } catch (error) {
        last = error;
        return undefined;
      }
    };
    if (!(await waitFor(isMet, { limitMs: recoveryLimitMs, everyMs: pollMs })))
      throw new Error(`not recovered after ${recoveryLimitMs / 1_000} s: ${String(last)}`);
  }

  private async countGaps(): Promise<number> {
    return (await this.status()).delivery_gaps.length;
  }

  private status(): Promise<Status> {
    return this.run.bed.system.request('GET', '/api/v1/platform/status');
  }
}

function isSubscribed({ subscriptions }: Status): boolean {
  return Object.keys(subscriptions).join() === 'enabled';
}
