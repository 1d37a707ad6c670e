import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { FailureLog, LOGGER, within, type Logger } from '@stream-events/service';
import { ConduitUpkeep } from './conduit-upkeep.service.js';
import { connecting, enabled, planShards, type Shard } from './shard-rules.js';
import { ShardSocket } from './shard-socket.js';
import { ShardSockets } from './shard-sockets.js';
import { ShardsRepository, type Holder } from './shards.repository.js';

// How often a connector checks the shards. A report from the platform triggers an additional check.
const tickMs = 500;
// How often a connector checks the shards while a shard is lost.
const urgentTickMs = 50;
// How often to check the conduit while a holder has probably died and no connector has taken its shards. The first check can be so early that
// the platform has not noticed the loss yet, and messages are lost until the next one. This state ends with the lease at the latest.
const suspicionMs = 250;
// How often a connector renews its leases: a quarter of the lease duration, as in `Lease`.
const renewMs = 1_500;
// How long a stopping connector waits for other connectors to take its shards. They usually take less than a second.
const handOverMs = 3_000;
// How long a stopping connector waits for a check in progress. If a call is cut off, the next check shows whether it succeeded.
const checkLimitMs = 2_000;

/**
 * Holds this connector's share of the conduit's shards, with one socket per shard. Leases in the database decide which connector holds
 * which shard. See `planShards` for the rules.
 */
@Injectable()
export class ShardKeeper {
  private readonly me: Holder = { id: randomUUID(), name: `${hostname()}:${process.pid}` };
  private readonly open = new Map<number, ShardSocket>();
  private readonly leases = new Map<number, { heldUntil: number | null; isProven: boolean }>();
  private readonly failures: FailureLog;
  private running: Promise<void> = Promise.resolve();
  private checking: Promise<void> = Promise.resolve();
  private isChecking = false;
  private isUrgent = false;
  private isStopping = false;
  /** Whether to run the next tick at once, without a pause. */
  private isTickDue = false;
  private renewedAt = -Infinity;
  private suspectedAt = -Infinity;
  private wake: () => void = () => undefined;

  constructor(
    private readonly upkeep: ConduitUpkeep,
    private readonly shards: ShardsRepository,
    private readonly sockets: ShardSockets,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
  }

  /** Starts to hold shards. Does nothing if no conduit exists and none is wanted. */
  async start(): Promise<void> {
    if (await this.upkeep.start()) this.running = this.run();
  }

  /** Lets other connectors take the shards. Closes the sockets once all shards are taken, or after 3 s; at once if no other one runs. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.wake();
    await this.running;
    await within(checkLimitMs, this.checking);
    if (this.open.size === 0) return;
    try {
      await this.shards.leave(this.me.id);
      if ((await this.shards.countHolders()) > 0) await within(handOverMs, this.untilTaken());
    } catch (error) {
      this.failures.warn(
        'cannot hand over the shards of the conduit, other connectors will take them when the leases expire',
        { err: error },
      );
    }
    const closing = [...this.open.values()];
    this.open.clear();
    // First save that the sockets are closing. A connector that connects one of these shards afterwards then reports a gap.
    await this.shards
      .saveClosed(
        closing.flatMap(({ settled, sessionId }) => (sessionId === null ? [] : [{ ...settled, sessionId }])),
      )
      .catch((error: unknown) =>
        this.failures.warn(
          'cannot record that the sockets of the shards are closing, so a gap in delivery may go unrecorded',
          { err: error },
        ),
      );
    await Promise.all(closing.map((socket) => socket.stop()));
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      this.isTickDue = false;
      try {
        await this.tick();
      } catch (error) {
        this.failures.warn('cannot maintain the shards of the conduit, retrying', { err: error });
      }
      await this.pause();
    }
  }

  /** Waits until the next tick is due. A report about a shard, a check of the conduit, or `stop` ends the wait early. */
  private async pause(): Promise<void> {
    if (this.isStopping || this.isTickDue) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.isUrgent ? urgentTickMs : tickMs);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async tick(): Promise<void> {
    await this.renew();
    this.check();
    const conduit = await this.upkeep.read();
    const conduitId = conduit?.id ?? null;
    for (const socket of this.open.values()) await socket.saveSession();
    this.closeOthers(conduitId);
    if (conduitId === null || !conduit?.isChecked) return;
    const shards = await this.shards.list(conduitId);
    this.note(shards);
    const plan = planShards({
      me: this.me.id,
      holders: await this.shards.countHolders(),
      shards,
      open: new Map([...this.open].map(([id, { sessionId }]) => [id, sessionId])),
      proven: new Set([...this.leases].flatMap(([id, { isProven }]) => (isProven ? [id] : []))),
    });
    for (const id of plan.close) this.close(id);
    for (const { id } of plan.offer) await this.shards.offer({ conduitId, id }, this.me.id);
    for (const shard of plan.replace) await this.replace(conduitId, shard);
    await Promise.all(plan.claim.map((shard) => this.claim(conduitId, shard)));
    this.isUrgent = plan.isUrgent;
    if (plan.isSuspicious) await this.suspect();
  }

  /** Makes a check of the conduit due. The platform may have sent the report about a lost shard over another lost shard. */
  private async suspect(): Promise<void> {
    if (performance.now() < this.suspectedAt + suspicionMs) return;
    this.suspectedAt = performance.now();
    await this.upkeep.checkSoon();
    this.tickSoon();
  }

  private tickSoon(): void {
    this.isTickDue = true;
    this.wake();
  }

  /** Checks the conduit in the background, because a call to the platform can outlast the lease. */
  private check(): void {
    if (this.isChecking) return;
    this.isChecking = true;
    this.checking = this.upkeep
      .checkIfDue()
      .then((isMade) => {
        if (isMade) this.tickSoon();
      })
      .catch((error: unknown) => this.failures.warn('cannot check the conduit, retrying', { err: error }))
      .finally(() => (this.isChecking = false));
  }

  private async renew(): Promise<void> {
    if (performance.now() < this.renewedAt + renewMs) return;
    const settled = [...this.open.values()].flatMap((socket) => (socket.sessionId ? [socket.settled] : []));
    await this.shards.renew(this.me, settled);
    this.renewedAt = performance.now();
  }

  /** Closes the sockets of conduits that no longer exist. */
  private closeOthers(conduitId: string | null): void {
    for (const [id, { key }] of this.open) if (key.conduitId !== conduitId) this.close(id);
  }

  private note(shards: readonly Shard[]): void {
    for (const { id, holder, heldUntil } of shards) {
      const known = this.leases.get(id);
      const isRenewed = known !== undefined && heldUntil !== known.heldUntil && holder !== this.me.id;
      this.leases.set(id, { heldUntil, isProven: (known?.isProven ?? false) || isRenewed });
    }
  }

  private async claim(conduitId: string, shard: Shard): Promise<void> {
    const current = this.open.get(shard.id);
    // If the platform has reported the shard as lost, its session no longer serves the shard, even while the socket is open.
    const isOpen =
      current !== undefined &&
      current.sessionId !== null &&
      current.sessionId === shard.sessionId &&
      [enabled, connecting].includes(shard.status);
    if (!(await this.shards.claim(conduitId, shard, { me: this.me.id, isOpen }))) return;
    if (isOpen) return;
    this.close(shard.id);
    // The previous holder of an offered shard keeps its session open, so no messages are missing.
    const isOffered = shard.holder === null && shard.status === enabled;
    this.openSocket({ conduitId, id: shard.id }, isOffered ? null : shard.settledUntil);
  }

  private async replace(conduitId: string, shard: Shard): Promise<void> {
    const missingSince = this.open.get(shard.id)?.settled.settledUntil ?? shard.settledUntil;
    this.close(shard.id);
    await this.shards.saveConnecting({ conduitId, id: shard.id }, this.me.id);
    this.openSocket({ conduitId, id: shard.id }, missingSince);
  }

  private openSocket(key: { conduitId: string; id: number }, missingSince: number | null): void {
    const socket = this.sockets.create(key, this.me.id, () => void this.onShardReported());
    this.open.set(key.id, socket);
    this.logger.info({ shard: key.id }, 'connecting a shard of the conduit');
    socket.start(missingSince);
  }

  /**
   * Checks all shards after a report about one. A holder that loses one shard has often lost all of its shards, and the platform may send
   * the reports about the other shards over a lost shard.
   */
  private async onShardReported(): Promise<void> {
    try {
      await this.upkeep.checkSoon();
    } catch (error) {
      this.failures.warn(
        'cannot request an early check of the conduit, waiting for the next scheduled check',
        { err: error },
      );
    }
    this.tickSoon();
  }

  private close(id: number): void {
    const socket = this.open.get(id);
    this.open.delete(id);
    void socket?.stop();
  }

  /** Waits until other connectors have taken all shards of this connector, for up to 3 s. */
  private async untilTaken(): Promise<void> {
    const deadline = performance.now() + handOverMs;
    while (performance.now() < deadline) {
      const conduit = await this.upkeep.read();
      const shards = conduit?.id ? await this.shards.list(conduit.id) : [];
      const isMine = ({ id, sessionId }: Shard): boolean =>
        sessionId !== null && this.open.get(id)?.sessionId === sessionId;
      if (!shards.some(isMine)) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
