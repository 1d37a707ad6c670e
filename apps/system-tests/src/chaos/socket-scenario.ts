import { setTimeout as wait } from 'node:timers/promises';
import { startPlatformSide, type PlatformSide } from '../system/platform-side.js';
import { nextMarker } from './fault-load.js';
import { targetsOf } from './fault-target.js';
import { LedgerEntry } from './ledger.js';
import type { Scenario } from './scenarios.js';
import type { TestBed } from './test-bed.js';

const closeCodes = [4000, 4001, 4002, 4003, 4004, 4005, 4006, 4007];
const reconnects = 5;
const cheerEveryMs = 50;
const pollMs = 200;
// Time limit for recovery. Before its eighth connection attempt in a row, the connector waits up to 30 s.
const recoveryLimitMs = 90_000;
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
  run: async (bed, { kills, awayMs }) => {
    await bed.load.pause();
    const environment = { PLATFORM_TRANSPORT: 'websocket' };
    const side = await startPlatformSide(bed.servers, bed.databaseUrl, bed.system, environment);
    const sockets = new SocketBed(bed, side);
    try {
      await sockets.connectChannel();
      sockets.startCheering();
      for (const code of kills > 1 ? closeCodes : closeCodes.slice(0, 2))
        await sockets.lose({ action: 'close', code });
      await sockets.lose({ action: 'silence' });
      for (let count = 0; count < reconnects; count += 1) await sockets.reconnect();
      await sockets.cutOffNats(awayMs);
    } finally {
      await sockets.settle();
      await side.stop();
    }
  },
};

/** A channel whose cheers arrive over a connector's event socket. */
class SocketBed {
  private readonly sent: { entry: LedgerEntry; at: number }[] = [];
  private channelId = '';
  private isCheering = false;
  private cheering: Promise<void> = Promise.resolve();

  constructor(
    private readonly bed: TestBed,
    private readonly side: PlatformSide,
  ) {}

  async connectChannel(): Promise<void> {
    await this.simulate('/limits', { device_interval_seconds: 1 });
    const login = `channel_${Date.now()}`;
    const { users } = await this.simulate<{ users: { id: string }[] }>('/users', { login });
    this.channelId = users[0]?.id ?? '';
    const connectionsPath = '/api/v1/platform/connections';
    const { user_code } = await this.bed.system.request<{ user_code: string }>('POST', connectionsPath);
    await this.simulate('/device-codes', { user_code, decision: 'allow', login });
    await this.until(({ subscriptions }) => Object.keys(subscriptions).join() === 'enabled');
  }

  startCheering(): void {
    this.isCheering = true;
    this.cheering = this.cheer();
  }

  /** Breaks the socket. Resolves when a gap has been reported and has ended. */
  async lose(fault: object): Promise<void> {
    const before = (await this.status()).delivery_gaps.length;
    this.bed.countFault();
    await this.simulate('/sockets', fault);
    await this.until(
      ({ delivery_gaps: gaps, subscriptions }) =>
        gaps.length > before &&
        gaps.every(({ until }) => until !== null) &&
        Object.keys(subscriptions).join() === 'enabled',
    );
  }

  async reconnect(): Promise<void> {
    await this.withoutGap('a reconnect', async () => {
      await this.simulate('/sockets', { action: 'reconnect' });
      await wait(10 * cheerEveryMs);
    });
  }

  async cutOffNats(awayMs: number): Promise<void> {
    await this.withoutGap('the outage of NATS', async () => {
      const nats = targetsOf('nats', this.bed.servers, this.bed.system);
      await Promise.all(nats.map((target) => target.stop()));
      await wait(awayMs);
      await Promise.all(nats.map((target) => target.start()));
      await this.until(async () => (await this.countWaiting()) === 0);
    });
  }

  /** Stops cheering, waits until everything is stored, and passes the cheers to the checker. */
  async settle(): Promise<void> {
    this.isCheering = false;
    await this.cheering;
    await this.until(async () => (await this.countWaiting()) === 0);
    const { delivery_gaps: gaps } = await this.status();
    for (const { entry, at } of this.sent) {
      const isInGap = gaps.some(
        ({ source, from, until }) =>
          source === `user ${this.channelId}` &&
          at >= Date.parse(from) - slackMs &&
          (until === null || at <= Date.parse(until) + slackMs),
      );
      // An event in a gap may be missing, but must not be stored twice.
      entry.note(isInGap ? { kind: 'timeout' } : { kind: 'accepted', id: undefined });
    }
    this.bed.addEntries(this.sent.map(({ entry }) => entry));
  }

  private async withoutGap(what: string, act: () => Promise<void>): Promise<void> {
    const before = (await this.status()).delivery_gaps.length;
    this.bed.countFault();
    await act();
    await this.until(({ delivery_gaps: gaps }) => gaps.length >= before);
    const after = (await this.status()).delivery_gaps.length;
    if (after > before) this.bed.find(`${what} caused ${after - before} gaps`);
  }

  private async cheer(): Promise<void> {
    while (this.isCheering) {
      const { marker } = nextMarker();
      const event = { marker, broadcaster_user_id: this.channelId, user_id: '1', bits: 1 };
      const eventData = JSON.stringify(event);
      const entry = new LedgerEntry({ marker, kind: 'notification', eventType: 'channel-cheer', eventData });
      this.sent.push({ entry, at: Date.now() });
      await this.simulate('/occurrences', { type: 'channel.cheer', event });
      await wait(cheerEveryMs);
    }
  }

  private async countWaiting(): Promise<number> {
    const metric = 'platform_connector_socket_messages_waiting';
    const counts = await Promise.all(this.side.connectors.map((connector) => connector.metric(metric)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Polls a condition. Ignores failed requests, because they fail while NATS is down. */
  private async until(condition: (status: Status) => boolean | Promise<boolean>): Promise<void> {
    const deadline = performance.now() + recoveryLimitMs;
    let last: unknown = 'never checked';
    while (performance.now() < deadline) {
      try {
        const status = await this.status();
        if (await condition(status)) return;
        last = JSON.stringify(status);
      } catch (error) {
        last = error;
      }
      await wait(pollMs);
    }
    throw new Error(`not recovered after ${recoveryLimitMs / 1_000} s: ${String(last)}`);
  }

  private status(): Promise<Status> {
    return this.bed.system.request('GET', '/api/v1/platform/status');
  }

  private simulate<Reply>(path: string, body: object): Promise<Reply> {
    return this.side.control('POST', path, body);
  }
}
