import { Lease } from '@stream-events/database';
import type { SocketMessage, SocketSession } from '@stream-events/platforms';
import { FailureLog, type Logger } from '@stream-events/service';
import type { DeliverySource } from '../sockets/delivery-gaps.repository.js';
import type { DeliveryGaps } from '../sockets/delivery-gaps.service.js';
import { EventSocket, type EventSocketListener } from '../sockets/event-socket.js';
import type { SocketIngest } from '../sockets/socket-ingest.service.js';
import {
  userSessionLease,
  type UserSessionClaim,
  type UserSessionsRepository,
} from '../sockets/user-sessions.repository.js';
import type { ReconciliationSchedule } from '../subscriptions/reconciliation-schedule.repository.js';
import type { SubscriptionsRepository } from '../subscriptions/subscriptions.repository.js';

// Maximum time for which a connector keeps a socket whose lease it cannot renew. While the database is down for all connectors, none can
// take over the socket, and messages still go to the INGEST stream. If only this connector has lost the database, another one opens a
// second session. Each event then arrives over both sessions, until this connector gives up.
const outageLimitMs = 60_000;

/** The reason for a gap in which no connector held the socket. */
export const connectorStopped = 'The connector that held the socket has stopped.';

export function sourceOf(userId: string): DeliverySource {
  return { transport: 'websocket', source: `user ${userId}` };
}

export interface UserSocketContext {
  url: string;
  sessions: UserSessionsRepository;
  subscriptions: SubscriptionsRepository;
  schedule: ReconciliationSchedule;
  ingest: SocketIngest;
  gaps: DeliveryGaps;
  logger: Logger;
}

/**
 * One user's event socket, while this process holds it. For each new session, the reconciler creates the subscriptions.
 *
 * ```
 *  claimed ─▶ connecting ─▶ welcome: session saved, its user's subscriptions are due ─▶ all created: the gap ends
 *                 ▲                                                                      │ lost: a gap begins
 *                 └──────────────────────────────────────────────────────────────────────┘
 * ```
 */
export class UserSocket implements EventSocketListener {
  private readonly socket: EventSocket;
  private readonly source: DeliverySource;
  private readonly lease: Lease;
  private readonly failures: FailureLog;
  private sessionId = '';
  private hasGap: boolean;
  private settledAt: number;
  private clearing: Promise<void> = Promise.resolve();

  constructor(
    readonly claim: UserSessionClaim,
    private readonly context: UserSocketContext,
  ) {
    const { userId } = claim;
    this.source = sourceOf(userId);
    this.failures = new FailureLog(context.logger);
    this.settledAt = claim.settledAt ?? Date.now();
    // If the previous holder had a session, messages may be missing since `settledAt`.
    this.hasGap = claim.sessionId !== null;
    if (this.hasGap) context.gaps.begin(this.source, this.settledAt, connectorStopped);
    const renew = (): Promise<boolean> => context.sessions.renew(claim, this.settledUntil());
    this.lease = new Lease(userSessionLease.seconds, renew, outageLimitMs);
    this.socket = new EventSocket(context.url, this, { logger: context.logger, name: this.source.source });
  }

  /** Aborts when another connector has taken the socket, the user needs none, or the lease could not be renewed for a minute. */
  get leaseLost(): AbortSignal {
    return this.lease.lost;
  }

  get isConnected(): boolean {
    return this.socket.session !== null;
  }

  start(): void {
    this.socket.start();
  }

  async welcomed({ id }: SocketSession): Promise<void> {
    const { sessions, subscriptions, schedule } = this.context;
    await this.clearing;
    this.sessionId = id;
    await sessions.save(this.claim, id);
    await subscriptions.releaseSessions(this.claim.userId);
    await schedule.requestListing();
  }

  received(message: SocketMessage): void {
    this.context.ingest.accept(message, this.source);
  }

  lost(loss: { reason: string; since: number }): void {
    this.settledAt = loss.since;
    this.clearing = this.clear(loss);
  }

  /** Saves the session's new id after a reconnect. Ends the gap once no subscription of the user is waiting. */
  async check(): Promise<void> {
    const { session } = this.socket;
    if (session === null) return;
    if (session !== this.sessionId) {
      await this.context.sessions.save(this.claim, session);
      this.sessionId = session;
      await this.context.schedule.requestListing();
    }
    if (!this.hasGap) return;
    const { waiting } = await this.context.subscriptions.countOfSession(this.claim.userId, session);
    if (waiting > 0 || session !== this.socket.session) return;
    this.hasGap = false;
    this.context.gaps.end(this.source, Date.now());
  }

  /**
   * Closes the socket, and releases the lease so that another connector can take over. After all subscriptions have moved to another
   * transport, the session has none, and its end causes no gap.
   */
  async stop(): Promise<void> {
    const settledAt = this.settledUntil();
    this.lease.end();
    await this.socket.stop();
    await this.clearing;
    if (this.lease.lost.aborted) return;
    if (!(await this.isSessionUsed())) await this.context.sessions.save(this.claim, null);
    await this.context.sessions.release(this.claim, settledAt);
  }

  /** Whether the session has subscriptions, or subscriptions about the user are waiting. */
  private async isSessionUsed(): Promise<boolean> {
    const { userId } = this.claim;
    const { active, waiting } = await this.context.subscriptions.countOfSession(userId, this.sessionId);
    return active + waiting > 0;
  }

  private settledUntil(): number {
    this.settledAt = Math.min(
      this.context.ingest.settledUntil(this.source),
      this.context.gaps.unsavedFrom(this.source),
      this.socket.lastFrameAt ?? this.settledAt,
    );
    return this.settledAt;
  }

  /**
   * Saves that the session is gone, so that the reconciler creates no subscriptions for it. If the save fails, the next welcome overwrites
   * the session. A session without subscriptions, which the platform closes after 10 s, causes no gap.
   */
  private async clear({ reason, since }: { reason: string; since: number }): Promise<void> {
    const { sessions, subscriptions } = this.context;
    try {
      if (await this.isSessionUsed()) this.beginGap(since, reason);
      await sessions.save(this.claim, null);
      await subscriptions.releaseSessions(this.claim.userId);
    } catch (error) {
      this.beginGap(since, reason);
      this.failures.warn(
        'cannot save that an event socket lost its session. The next session overwrites the lost one',
        { err: error, userId: this.claim.userId },
      );
    }
  }

  private beginGap(since: number, reason: string): void {
    if (this.hasGap) return;
    this.hasGap = true;
    this.context.gaps.begin(this.source, since, reason);
  }
}
