import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { AlarmKey } from '@stream-events/contracts';
import { Alarms, FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { Tokens, type ExpiringToken } from './tokens.service.js';

const intervalMs = 20_000;

/** Every 20 s, saves when tokens were last used, raises alarms for tokens that expire soon, and deletes expired tokens. */
@Injectable()
export class TokenUpkeep implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly loop: WorkerLoop;
  private raised: ReadonlySet<AlarmKey> = new Set();

  constructor(
    private readonly tokens: Tokens,
    private readonly alarms: Alarms,
    @Inject(LOGGER) logger: Logger,
  ) {
    const failureLog = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: async () => {
        await tokens.saveUses();
        await this.checkExpiry();
        return tokens.prune();
      },
      idleMs: intervalMs,
      maxBackoffMs: 60_000,
      onFailure: (err) =>
        failureLog.warn(
          'cannot save last-used times, check which tokens expire soon, or delete expired tokens; retrying within a minute',
          {
            err,
          },
        ),
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.loop.stop();
  }

  /** Raises an alarm for each browser source whose token expires soon. Public only for tests. */
  async checkExpiry(): Promise<void> {
    const expiring = await this.tokens.listExpiring();
    const messages = new Map<AlarmKey, string>(
      expiring.map((token) => [`token_expiring:${token.id}`, warn(token)]),
    );
    for (const [key, message] of messages) this.alarms.raise(key, message);
    // Withdraw instead of clearing: every gateway raises these alarms, and one that has not seen a renewal yet would open the alarm again.
    for (const key of this.raised) if (!messages.has(key)) this.alarms.withdraw(key);
    this.raised = new Set(messages.keys());
  }
}

function warn({ id, name, username, expiresAt }: ExpiringToken): string {
  const time = expiresAt.toISOString().replace('T', ' ').slice(0, 16);
  return (
    `The token “${name}” of the user ${username} expires at ${time} UTC, and its browser source then shows no more alerts. ` +
    'To renew the token, press Renew on that user’s Browser sources page in the console, or set `expires` with ' +
    `PATCH /api/v1/tokens/${id}. The address in OBS stays the same.`
  );
}
