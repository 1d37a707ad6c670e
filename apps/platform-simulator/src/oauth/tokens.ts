import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PlatformLimits } from '../behavior/platform-limits.js';
import type { Application } from './applications.js';
import { Grants } from './grants.js';

/** An application, or a user of an application. */
export interface Owner {
  readonly clientId: string;
  /** Null for the application itself, which has app access tokens. */
  readonly userId: string | null;
}

/** Whom an access token belongs to, and what it allows. */
export interface TokenOwner extends Owner {
  /** Empty for an app access token. */
  readonly scopes: readonly string[];
}

const maxTokens = 10_000;

/** Stores tokens and codes by a secret key until they expire. A full store drops its oldest value, to bound memory. */
export class ExpiringStore<Value> {
  private readonly entries = new Map<string, { value: Value; expiresAtMs: number }>();

  constructor(private readonly maxSize: number) {}

  /** Creates the key. It is random even in a simulation, because it is a real secret: the seed must not reveal it. */
  add(value: Value, lifetimeSeconds: number): string {
    const [oldest] = this.entries.keys();
    if (this.entries.size >= this.maxSize && oldest !== undefined) this.entries.delete(oldest);
    const key = randomBytes(15).toString('hex');
    this.entries.set(key, { value, expiresAtMs: Date.now() + lifetimeSeconds * 1_000 });
    return key;
  }

  /** Returns undefined if the value is missing or expired. */
  find(key: string, nowMs = Date.now()): { value: Value; expiresAtMs: number } | undefined {
    const found = this.entries.get(key);
    return found !== undefined && nowMs < found.expiresAtMs ? found : undefined;
  }

  /** Removes the value, so that it works only once. */
  take(key: string): Value | undefined {
    const found = this.find(key);
    this.entries.delete(key);
    return found?.value;
  }

  delete(key: string): boolean {
    return this.entries.delete(key);
  }

  /** Returns how many values were removed. */
  deleteWhere(isDoomed: (value: Value) => boolean): number {
    const doomed = [...this.entries].filter(([, { value }]) => isDoomed(value));
    for (const [key] of doomed) this.entries.delete(key);
    return doomed.length;
  }

  /** Values that have not expired, oldest first. */
  list(): Value[] {
    return [...this.entries].flatMap(([key, { value }]) => (this.find(key) ? [value] : []));
  }
}

/** Access tokens of applications and users, and refresh tokens of users. */
@Injectable()
export class Tokens {
  private readonly accessTokens = new ExpiringStore<TokenOwner>(maxTokens);
  private readonly refreshTokens = new ExpiringStore<TokenOwner>(maxTokens);

  constructor(
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(Grants) grants: Grants,
  ) {
    grants.changes.on('revoked', ({ clientId, userId }) => {
      for (const tokens of [this.accessTokens, this.refreshTokens])
        tokens.deleteWhere((owner) => owner.clientId === clientId && owner.userId === userId);
    });
  }

  issue(owner: TokenOwner): { token: string; expiresInSeconds: number } {
    const { token_seconds, user_token_seconds } = this.limits.current;
    const expiresInSeconds = owner.userId === null ? token_seconds : user_token_seconds;
    return { token: this.accessTokens.add(owner, expiresInSeconds), expiresInSeconds };
  }

  /** Returns undefined if the access token is unknown or expired. */
  find(token: string): (TokenOwner & { expiresAtMs: number }) | undefined {
    const found = this.accessTokens.find(token);
    return found && { ...found.value, expiresAtMs: found.expiresAtMs };
  }

  /** Revokes an access token, even an expired one. Returns false if the application has no such token. */
  revoke(token: string, clientId: string): boolean {
    return this.accessTokens.find(token, 0)?.value.clientId === clientId && this.accessTokens.delete(token);
  }

  /** Revokes all access tokens, and returns their number. */
  revokeAll(): number {
    return this.accessTokens.deleteWhere(() => true);
  }

  /** A confidential client's refresh token does not expire (FACTS.md §4.8). */
  issueRefreshToken(owner: TokenOwner, { secret }: Application): string {
    const seconds = secret === null ? this.limits.current.refresh_token_seconds : Infinity;
    return this.refreshTokens.add(owner, seconds);
  }

  /**
   * Returns the owner and the refresh token for the next refresh: a new one for a public client, whose refresh tokens are valid once.
   * Returns undefined for an invalid refresh token.
   */
  refresh(token: string, application: Application): { owner: TokenOwner; next: string } | undefined {
    const owner = this.refreshTokens.find(token)?.value;
    if (owner?.clientId !== application.clientId) return undefined;
    if (application.secret !== null) return { owner, next: token };
    this.refreshTokens.delete(token);
    return { owner, next: this.issueRefreshToken(owner, application) };
  }
}

/** Reads the token from an Authorization header (FACTS.md §4.1). */
export function readBearer(authorization: string | undefined): string | undefined {
  return /^(?:OAuth|Bearer) +(\S+)$/i.exec(authorization ?? '')?.[1];
}
