import { Inject, Injectable } from '@nestjs/common';
import { PlatformUnavailableError } from '@stream-events/platforms';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { areSameScopes } from '../grants/consent.js';
import { AuthorizationServer } from './authorization-server.js';
import { ConnectionConsequences } from './connection-consequences.service.js';
import type { Connection } from './connection.entity.js';
import { claimSeconds, ConnectionsRepository } from './connections.repository.js';
import { UserTokens } from './user-tokens.service.js';

// How often to look for due connections. The platform asks clients to poll every 5 s, so look more often than that.
const idleMs = 1_000;
const maxBackoffMs = 30_000;
const retryMs = 5_000;
const expiredRemedy = 'The code expired, or the user refused. Start a new connection.';
const doubtfulRemedy =
  'The platform does not accept the code. If the user refused, start a new connection. Otherwise, wait: the service retries until the code expires.';

/**
 * Polls and validates due connections, one at a time. Instances share the work: each claims a connection before it calls the platform.
 *
 * ```
 *  pending, with a code ──▶ asks for the tokens, at the platform's interval ──code expires──▶ expired
 *  pending, and the browser did not return in time ──▶ expired
 *  pending, with tokens ──▶ validates the token, whose owner has given consent ──▶ connected
 *  connected, not monitored ──▶ adds the streamer
 *  connected ──▶ validates every hour, as the platform requires
 * ```
 */
@Injectable()
export class ConnectionUpkeep {
  private readonly loop: WorkerLoop;
  private readonly failures: FailureLog;

  constructor(
    private readonly repository: ConnectionsRepository,
    private readonly server: AuthorizationServer,
    private readonly tokens: UserTokens,
    private readonly consequences: ConnectionConsequences,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: () => this.attendNext(),
      idleMs,
      maxBackoffMs,
      onFailure: (error) =>
        this.failures.warn(
          'cannot read the platform connections that are due for a check, retrying within 30 s',
          { err: error },
        ),
    });
  }

  async start(): Promise<void> {
    const { clientId } = this.server;
    if (clientId === undefined) return;
    await this.repository.validateSoon(clientId);
    this.loop.start();
  }

  /** Stops within 5 s. A refresh in progress can take longer: `UserTokens` waits for it after the sockets have closed. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  private async attendNext(): Promise<boolean> {
    const { clientId } = this.server;
    const connection = clientId === undefined ? null : await this.repository.claimDue(clientId);
    if (!connection) return false;
    try {
      await this.attend(connection);
    } catch (error) {
      // The claim has already scheduled the next attempt, so go on with the other connections.
      this.failures.warn('cannot update a platform connection, retrying', {
        err: error,
        connectionId: connection.id,
      });
      if (error instanceof PlatformUnavailableError && error.retryAfterSeconds > claimSeconds)
        await this.repository.postpone(connection.id, error.retryAfterSeconds * 1_000);
    }
    return true;
  }

  private async attend(connection: Connection): Promise<void> {
    const deviceCode = this.repository.deviceCodeOf(connection);
    if (deviceCode !== undefined) await this.poll(connection, deviceCode);
    else if (this.repository.tokensOf(connection)) await this.validate(connection);
    else await this.expire(connection.id);
  }

  private async poll(
    { id, scopes, expiresAt, pollIntervalMs, remedy }: Connection,
    deviceCode: string,
  ): Promise<void> {
    const outcome = await this.server.requestTokens(deviceCode, scopes);
    if (outcome.kind === 'issued') {
      await this.repository.saveTokens(id, outcome.tokens);
      await this.repository.postpone(id, 0);
    } else if (outcome.kind === 'ended' || Date.now() > (expiresAt?.getTime() ?? 0)) {
      await this.expire(id);
    } else {
      const advice = outcome.kind === 'doubtful' ? doubtfulRemedy : null;
      if (advice !== remedy) await this.repository.saveAdvice(id, advice);
      await this.repository.postpone(id, pollIntervalMs ?? retryMs);
    }
  }

  private async expire(id: string): Promise<void> {
    await this.repository.saveExpired(id, expiredRemedy);
    this.logger.info({ connectionId: id }, 'connection ended without consent');
  }

  private async validate(connection: Connection): Promise<void> {
    const { id, role } = connection;
    const owner = await this.tokens.validate(connection);
    if (!owner) return;
    const isNew = connection.state !== 'connected';
    if (!(await this.repository.saveConnected(connection, owner))) return;
    if (isNew) {
      this.logger.info({ connectionId: id, userId: owner.userId, role }, 'user connected');
      this.consequences.onConnected(id);
    }
    if (isNew || !areSameScopes(owner.scopes, connection.scopes))
      await this.consequences.onGranted(owner.userId);
    if (connection.isMonitored || role === 'bot') return;
    if (await this.consequences.monitor(owner.login)) await this.repository.saveMonitored(id);
    else await this.repository.postpone(id, retryMs);
  }
}
