import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PlatformLimits } from '../behavior/platform-limits.js';
import type { Application } from './applications.js';
import { Grants, type Consent } from './grants.js';

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

/** Access tokens of applications and users. Disconnecting an application invalidates the user's tokens for that application. */
@Injectable()
export class AccessTokens {
  private readonly tokens = new ExpiringStore<TokenOwner>(maxTokens);

  constructor(
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(Grants) grants: Grants,
  ) {
    grants.changes.on('revoked', (consent) => this.tokens.deleteWhere((owner) => isOf(consent, owner)));
  }

  issue(owner: TokenOwner): { token: string; expiresInSeconds: number } {
    const { token_seconds, user_token_seconds } = this.limits.current;
    const expiresInSeconds = owner.userId === null ? token_seconds : user_token_seconds;
    return { token: this.tokens.add(owner, expiresInSeconds), expiresInSeconds };
  }

  /** Returns undefined if the token is unknown or expired. */
  find(token: string): AccessToken | undefined {
    const found = this.tokens.find(token);
    return found && { ...found.value, expiresAtMs: found.expiresAtMs };
  }

  /** Also revokes an expired token. Returns false if the application has no such token. */
  revoke(token: string, clientId: string): boolean {
    return this.tokens.find(token, 0)?.value.clientId === clientId && this.tokens.delete(token);
  }

  revokeAll(): number {
    return this.tokens.deleteWhere(() => true);
  }
}

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
    grants.changes.on('revoked', (consent) => this.tokens.deleteWhere((owner) => isOf(consent, owner)));
  }

  issue(owner: TokenOwner, { secret }: Application): string {
    return this.tokens.add(owner, secret === null ? this.limits.current.refresh_token_seconds : Infinity);
  }

  /** Returns the owner and the token for the next refresh. Returns undefined for an invalid token. */
  use(token: string, application: Application): { owner: TokenOwner; next: string } | undefined {
    const owner = this.tokens.find(token)?.value;
    if (owner?.clientId !== application.clientId) return undefined;
    if (application.secret !== null) return { owner, next: token };
    this.tokens.delete(token);
    return { owner, next: this.issue(owner, application) };
  }
}

function isOf({ clientId, userId }: Consent, owner: TokenOwner): boolean {
  return owner.clientId === clientId && owner.userId === userId;
}

/** Reads the token from an Authorization header (docs/platform-facts.md §4.1). */
export function readBearer(authorization: string | undefined): string | undefined {
  return /^(?:OAuth|Bearer) +(\S+)$/i.exec(authorization ?? '')?.[1];
}
