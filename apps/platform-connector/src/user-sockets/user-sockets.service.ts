import { Inject, Injectable } from '@nestjs/common';
import type { TransportMethod } from '@stream-events/platforms';
import { FailureLog, LOGGER, Registry, WorkerLoop, type Logger } from '@stream-events/service';
import { UserPlatforms } from '../connections/user-platforms.service.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { DeliveryGaps } from '../sockets/delivery-gaps.service.js';
import { SocketIngest } from '../sockets/socket-ingest.service.js';
import { UserSessionsRepository, type RemovedUserSession } from '../sockets/user-sessions.repository.js';
import { ReconciliationSchedule } from '../subscriptions/reconciliation-schedule.repository.js';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository.js';
import { connectorStopped, sourceOf, UserSocket } from './user-socket.js';
import { connectorMetrics } from '../metrics.js';

const idleMs = 1_000;
const maxBackoffMs = 5_000;
// Time after a failed pass during which a connector claims no sockets. A database outage lets all leases expire. During this pause, twice
// the renewal interval, their holders can renew them.
const claimPauseMs = 5_000;
// The maximum number of users to claim per pass. Connectors that start together then share the users.
const claimsPerPass = 5;

/**
 * With the transport `websocket`, holds an event socket for each connected user who needs one (see `wantedUsers`). One connector at a time
 * holds a user's socket. After a change to another transport, a socket stays open until its subscriptions have moved, as long as its
 * connector runs.
 */
@Injectable()
export class UserSockets {
  private readonly held = new Map<string, UserSocket>();
  private readonly loop: WorkerLoop;
  /** When a pass last failed, in milliseconds of a monotonic clock. */
  private failedAt = -Infinity;

  constructor(
    private readonly sessions: UserSessionsRepository,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly schedule: ReconciliationSchedule,
    private readonly users: UserPlatforms,
    private readonly ingest: SocketIngest,
    private readonly gaps: DeliveryGaps,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    const failures = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: (stopping) => this.attend(stopping),
      idleMs,
      maxBackoffMs,
      onFailure: (error) => {
        this.failedAt = performance.now();
        failures.warn('cannot maintain the event sockets of users, retrying within 5 s', { err: error });
      },
    });
    connectorMetrics.platform_connector_user_sockets.create(metrics, (gauge) => {
      const connected = [...this.held.values()].filter(({ isConnected }) => isConnected).length;
      gauge.set({ connected: 'true' }, connected);
      gauge.set({ connected: 'false' }, this.held.size - connected);
    });
  }

  start(): void {
    if (this.settings.transport !== null) this.loop.start();
  }

  async stop(): Promise<void> {
    await this.loop.stop();
    await Promise.all([...this.held.values()].map((socket) => socket.stop()));
  }

  private async attend(stopping: AbortSignal): Promise<boolean> {
    // Use the method of the connector that started last, as the reconciler does, so that all connectors agree.
    const method = (await this.schedule.readTransports()).method ?? this.settings.transport;
    const wanted = await this.wantedUsers(method);
    for (const removed of await this.sessions.keep(wanted)) this.endGap(removed);
    for (const [userId, socket] of this.held) {
      if (wanted.includes(userId)) continue;
      await this.close(socket);
      this.gaps.end(sourceOf(userId), Date.now());
    }
    // A connector with another transport claims nothing: it will soon be stopped, which closes its sockets.
    const mayClaim = method !== 'websocket' || this.settings.transport === method;
    if (mayClaim && performance.now() > this.failedAt + claimPauseMs) await this.claim(stopping);
    for (const socket of this.held.values()) await socket.check();
    return false;
  }

  private async claim(stopping: AbortSignal): Promise<void> {
    // After its time limit, a stop no longer waits for this pass, which must then open no socket.
    const isStopping = (): boolean => stopping.aborted;
    for (let claims = 0; claims < claimsPerPass && !isStopping(); claims += 1) {
      const claim = await this.sessions.claim([...this.held.keys()]);
      // If the service stops, the lease of the claim expires, and another connector takes the socket.
      if (!claim || isStopping()) return;
      const { sessions, subscriptions, schedule, ingest, gaps, logger } = this;
      const url = this.settings.urls.socket;
      const socket = new UserSocket(claim, { url, sessions, subscriptions, schedule, ingest, gaps, logger });
      this.held.set(claim.userId, socket);
      socket.leaseLost.addEventListener('abort', () => void this.close(socket));
      socket.start();
    }
  }

  /**
   * Returns the users who need a socket. With the transport `websocket`, these are the connected users that subscriptions are about, plus
   * the first connected user. That user's socket also receives the events of channels that are not connected. With any other transport,
   * these are the users whose sessions still have subscriptions.
   */
  private async wantedUsers(method: TransportMethod | null): Promise<string[]> {
    const connected = (await this.users.connected()).map(({ userId }) => userId);
    const { wanted, used } = await this.subscriptions.usersOf(connected);
    if (method !== 'websocket') return used;
    return connected.filter((userId, index) => index === 0 || wanted.includes(userId));
  }

  /**
   * Ends the gaps of a removed socket. If its last connector has stopped, first records the gap since then, because no other connector will
   * hold the socket and record the gap.
   */
  private endGap({ userId, sessionId, settledAt, isHeld }: RemovedUserSession): void {
    const source = sourceOf(userId);
    if (sessionId !== null && !isHeld && settledAt !== null)
      this.gaps.begin(source, settledAt, connectorStopped);
    this.gaps.end(source, Date.now());
  }

  private async close(socket: UserSocket): Promise<void> {
    const { userId } = socket.claim;
    if (this.held.get(userId) === socket) this.held.delete(userId);
    try {
      await socket.stop();
    } catch (error) {
      this.logger.warn(
        { err: error, userId },
        'cannot release the event socket of a user, another connector takes the socket when the lease expires',
      );
    }
  }
}
