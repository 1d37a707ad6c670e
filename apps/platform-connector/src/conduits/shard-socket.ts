import { setTimeout as wait } from 'node:timers/promises';
import {
  inbound,
  PlatformUnavailableError,
  type OutboundConduits,
  type SocketMessage,
  type SocketSession,
} from '@stream-events/platforms';
import type { Logger } from '@stream-events/service';
import type { DeliveryGaps } from '../sockets/delivery-gaps.service.js';
import { EventSocket, type EventSocketListener } from '../sockets/event-socket.js';
import type { SocketIngest } from '../sockets/socket-ingest.service.js';
import { connecting } from './shard-rules.js';
import type { SettledShard, ShardKey, ShardsRepository } from './shards.repository.js';

// How long to retry an assignment. The platform closes a session that serves no shard after 10 s.
const sessionMs = 8_000;
const retryMs = 500;
const holderStopped = 'The connector that held the shard has stopped.';

interface Loss {
  since: number;
  reason: string;
}

/** One use of a session, from its welcome to its loss. */
interface SessionUse {
  /** Whether the platform has assigned the session to the shard. */
  isAssigned: boolean;
  /** How the session was lost, if that happened before the platform confirmed the assignment. */
  loss: Loss | null;
}

export interface ShardSocketTools {
  url: string;
  platform: OutboundConduits;
  shards: ShardsRepository;
  ingest: SocketIngest;
  gaps: DeliveryGaps;
  logger: Logger;
  /** Called when the platform reports that a shard of any connector is lost. */
  onShardDisabled: () => void;
}

/**
 * The socket for a shard that this connector holds. Assigns each of its sessions to the shard.
 *
 * ```
 *  connecting ──welcome──▶ being assigned ──assigned and saved──▶ serving: the gap ends
 *      ▲                         │                                   │
 *      └─── lost: a gap begins ◀─┴───────────────────────────────────┘
 * ```
 */
export class ShardSocket implements EventSocketListener {
  private readonly socket: EventSocket;
  private readonly source: { transport: 'conduit'; source: string };
  private assigned: string | null = null;
  /** The use of the current session, which serves the shard or is being assigned to it. */
  private use: SessionUse | undefined;
  /** When the open gap began; Infinity when there is none. */
  private gapFrom = Infinity;

  constructor(
    readonly key: ShardKey,
    private readonly holder: string,
    private readonly tools: ShardSocketTools,
  ) {
    this.source = { transport: 'conduit', source: `shard ${key.id}` };
    this.socket = new EventSocket(tools.url, this, { logger: tools.logger, name: this.source.source });
  }

  /** The session that serves the shard; null while none does. */
  get sessionId(): string | null {
    return this.assigned;
  }

  /** Read this before `stop`: a stopped socket no longer knows when its last frame arrived. */
  get settled(): SettledShard {
    const { ingest, gaps } = this.tools;
    // If a gap is not saved yet, return its start. Otherwise, a connector that takes over would assume that no messages are missing.
    const settledUntil = Math.min(
      ingest.settledUntil(this.source),
      gaps.unsavedFrom(this.source),
      // After the last frame that arrived, the platform may have sent messages that never arrived.
      this.socket.lastFrameAt ?? Infinity,
    );
    return { ...this.key, settledUntil };
  }

  /** @param missingSince when messages may have begun to be missing, in milliseconds since 1970; null when none are */
  start(missingSince: number | null): void {
    if (missingSince !== null) this.beginGap(missingSince, holderStopped);
    this.socket.start();
  }

  async stop(): Promise<void> {
    this.use = undefined;
    await this.socket.stop();
  }

  /** Saves the new session id after a reconnect that the platform requested. */
  async saveSession(): Promise<void> {
    const { use } = this;
    const { session } = this.socket;
    if (this.assigned === null || session === null || session === this.assigned) return;
    const isSaved = await this.tools.shards.saveEnabled(this.key, session, this.holder);
    // The session was lost while its id was being saved.
    if (this.use !== use)
      await this.tools.shards.saveDisabled({ ...this.key, sessionId: session, status: connecting });
    else if (isSaved) this.assigned = session;
  }

  async welcomed({ id: sessionId }: SocketSession): Promise<void> {
    const { shards } = this.tools;
    const use: SessionUse = { isAssigned: false, loss: null };
    this.use = use;
    if (!(await shards.saveSession(this.key, sessionId, this.holder))) throw taken(this.key);
    await this.assign(sessionId, use);
    // A stopping holder closes the session of an offered shard after 3 s. If this assignment took longer, messages are missing.
    const missingSince = await shards.findClosed(this.key);
    this.requireCurrent(use);
    if (!(await shards.saveEnabled(this.key, sessionId, this.holder))) {
      this.use = undefined; // The other connector records the gap.
      throw taken(this.key);
    }
    if (missingSince !== null) this.beginGap(missingSince, holderStopped);
    // If the use has ended while it was being saved, undo the save. Changes nothing if a later session is already saved.
    if (this.use !== use) await shards.saveDisabled({ ...this.key, sessionId, status: connecting });
    this.requireCurrent(use);
    this.assigned = sessionId;
    this.endGap();
  }

  received(message: SocketMessage): void {
    this.tools.ingest.accept(message, this.source);
    const disabled = inbound.readDisabledShard(message.content);
    if (disabled) void this.saveDisabled(disabled);
  }

  lost(loss: Loss): void {
    this.assigned = null;
    // Begin a gap only if a session was assigned. Without one, the gap from the previous session's loss is still open.
    if (this.use?.isAssigned) this.beginGap(loss.since, describeLoss(loss));
    else if (this.use) this.use.loss = loss;
    this.use = undefined;
    this.tools.shards.saveConnecting(this.key, this.holder).catch((error: unknown) => this.warn(error));
  }

  private async assign(sessionId: string, use: SessionUse): Promise<void> {
    const { conduitId, id } = this.key;
    const outcome = await retried(() => {
      this.requireCurrent(use);
      return this.tools.platform.assignShard(conduitId, id, sessionId);
    });
    if (outcome.kind === 'refused')
      throw new Error(`the platform did not assign shard ${id} of conduit ${conduitId}: ${outcome.message}`);
    if (outcome.kind === 'gone') throw new Error(`conduit ${conduitId} does not exist`);
    use.isAssigned = true;
    if (use.loss) this.beginGap(use.loss.since, describeLoss(use.loss));
  }

  /** Throws an error when the session has been lost. A later session may already serve the shard. */
  private requireCurrent(use: SessionUse): void {
    if (this.use !== use)
      throw new Error(
        `the session for shard ${this.key.id} of conduit ${this.key.conduitId} was lost during the assignment`,
      );
  }

  private endGap(): void {
    this.gapFrom = Infinity;
    this.tools.gaps.end(this.source, Date.now());
  }

  private beginGap(since: number, reason: string): void {
    if (since >= this.gapFrom) return;
    this.gapFrom = since;
    this.tools.gaps.begin(this.source, since, reason);
    // A later session may already serve the shard.
    if (this.assigned !== null) this.endGap();
  }

  private async saveDisabled(disabled: Parameters<ShardsRepository['saveDisabled']>[0]): Promise<void> {
    try {
      await this.tools.shards.saveDisabled(disabled);
      this.tools.onShardDisabled();
    } catch (error) {
      this.warn(error);
    }
  }

  /** Only logs the failure: the next check of the shards finds the same state and retries. */
  private warn(error: unknown): void {
    this.tools.logger.warn(
      { err: error, shard: this.key.id },
      'cannot save the state of a shard, retrying with the next check of the shards',
    );
  }
}

/** Repeats a call for up to 8 s while the platform is unavailable. */
async function retried<T>(call: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + sessionMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof PlatformUnavailableError) || performance.now() > deadline) throw error;
      await wait(retryMs);
    }
  }
}

function describeLoss({ reason }: Loss): string {
  return `The socket was lost: ${reason}`;
}

function taken({ conduitId, id }: ShardKey): Error {
  return new Error(`another connector holds shard ${id} of conduit ${conduitId}`);
}
