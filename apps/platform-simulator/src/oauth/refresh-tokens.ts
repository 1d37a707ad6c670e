import { Inject, Injectable } from '@nestjs/common';
import { Grants } from '../grants/grants.js';
import { PlatformLimits } from '../limits/platform-limits.js';
import { createSecret, type TokenOwner } from './access-tokens.js';
import type { Application } from './applications.js';
import { ExpiringStore } from './expiring-store.js';

const maxTokens = 10_000;

/**
 * Refresh tokens of users (docs/platform-facts.md §4.8):
 * - A public client's token is valid once, and it expires.
 * - A confidential client's token is valid until the user disconnects the application.
 */
@Injectable()
export class RefreshTokens {
  private readonly tokens = new ExpiringStore<TokenOwner>(maxTokens);

  constructor(
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(Grants) grants: Grants,
  ) {
    grants.changes.on('revoked', ({ clientId, userId }) => {
      this.tokens.deleteWhere((owner) => owner.clientId === clientId && owner.userId === userId);
    });
  }

  issue(owner: TokenOwner, { secret }: Application, nowMs: number): string {
    const token = createSecret();
    const lifetimeMs = secret === null ? this.limits.current.refresh_token_seconds * 1_000 : Infinity;
    this.tokens.add(token, owner, nowMs + lifetimeMs);
    return token;
  }

  /** Returns the owner and the token for the next refresh. Returns undefined for an invalid token. */
  use(
    token: string,
    application: Application,
    nowMs: number,
  ): { owner: TokenOwner; next: string } | undefined {
    const owner = this.tokens.find(token, nowMs)?.value;
    if (owner?.clientId !== application.clientId) return undefined;
    if (application.secret !== null) return { owner, next: token };
    this.tokens.delete(token);
    return { owner, next: this.issue(owner, application, nowMs) };
  }
}
