import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Grants } from '../grants/grants.js';
import { PlatformLimits } from '../limits/platform-limits.js';
import { ExpiringStore } from './expiring-store.js';

/** The application, user, and scopes of an access token. */
export interface TokenOwner {
  readonly clientId: string;
  /** Null for an app access token. */
  readonly userId: string | null;
  /** Empty for an app access token. */
  readonly scopes: readonly string[];
}

/** A valid access token. */
export interface AccessToken extends TokenOwner {
  readonly expiresAtMs: number;
}

const maxTokens = 10_000;

/** The access tokens of applications and of users. When a user disconnects an application, the user's tokens become invalid. */
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

  /** Issues a new token. */
  issue(owner: TokenOwner, nowMs: number): { token: string; expiresInSeconds: number } {
    const token = createSecret();
    const { token_seconds, user_token_seconds } = this.limits.current;
    const expiresInSeconds = owner.userId === null ? token_seconds : user_token_seconds;
    this.tokens.add(token, owner, nowMs + expiresInSeconds * 1_000);
    return { token, expiresInSeconds };
  }

  /** Finds a token that is valid now. */
  find(token: string, nowMs: number): AccessToken | undefined {
    const found = this.tokens.find(token, nowMs);
    return found && { ...found.value, expiresAtMs: found.expiresAtMs };
  }

  /** Revokes a token. Returns false when the application has no such token. */
  revoke(token: string, clientId: string): boolean {
    return this.tokens.find(token, 0)?.value.clientId === clientId && this.tokens.delete(token);
  }

  revokeAll(): number {
    return this.tokens.deleteWhere(() => true);
  }
}

/** Creates a random token or code. Never derives it from the seed, because it is a secret even in a simulation. */
export function createSecret(): string {
  return randomBytes(15).toString('hex');
}

/** The token in an Authorization header (docs/platform-facts.md §4.1). */
export function readBearer(authorization: string | undefined): string | undefined {
  return /^(?:OAuth|Bearer) +(\S+)$/i.exec(authorization ?? '')?.[1];
}
