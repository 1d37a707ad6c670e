import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Grants } from '../grants/grants.js';
import { PlatformLimits } from '../limits/platform-limits.js';
import { ExpiringStore } from './expiring-store.js';

/** Whom an access token belongs to, and what it allows. */
export interface TokenOwner {
  readonly clientId: string;
  /** Null for an app access token. */
  readonly userId: string | null;
  /** Empty for an app access token. */
  readonly scopes: readonly string[];
}

export interface AccessToken extends TokenOwner {
  readonly expiresAtMs: number;
}

const maxTokens = 10_000;

/** Access tokens of applications and users. Disconnecting an application invalidates the user's tokens for that application. */
@Injectable()
export class AccessTokens {
  private readonly tokens = new ExpiringStore<TokenOwner>(maxTokens);

  constructor(
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(Grants) grants: Grants,
  ) {
    grants.changes.on('revoked', ({ clientId, userId }) => {
      this.tokens.deleteWhere((owner) => owner.clientId === clientId && owner.userId === userId);
    });
  }

  issue(owner: TokenOwner, nowMs: number): { token: string; expiresInSeconds: number } {
    const token = createSecret();
    const { token_seconds, user_token_seconds } = this.limits.current;
    const expiresInSeconds = owner.userId === null ? token_seconds : user_token_seconds;
    this.tokens.add(token, owner, nowMs + expiresInSeconds * 1_000);
    return { token, expiresInSeconds };
  }

  /** Returns undefined if the token is unknown or expired. */
  find(token: string, nowMs: number): AccessToken | undefined {
    const found = this.tokens.find(token, nowMs);
    return found && { ...found.value, expiresAtMs: found.expiresAtMs };
  }

  /** Returns false if the application has no such token. */
  revoke(token: string, clientId: string): boolean {
    return this.tokens.find(token, 0)?.value.clientId === clientId && this.tokens.delete(token);
  }

  revokeAll(): number {
    return this.tokens.deleteWhere(() => true);
  }
}

/** Creates a token or code. Random even in a simulation, because it is a real secret: the seed must not reveal it. */
export function createSecret(): string {
  return randomBytes(15).toString('hex');
}

/** Reads the token from an Authorization header (docs/platform-facts.md §4.1). */
export function readBearer(authorization: string | undefined): string | undefined {
  return /^(?:OAuth|Bearer) +(\S+)$/i.exec(authorization ?? '')?.[1];
}
