import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import { PlatformLimits } from '../limits/platform-limits.js';
import type { SimulatorConfig } from '../platform-simulator.config.js';

/** An access token's application and expiry. */
export interface AccessToken {
  readonly clientId: string;
  readonly expiresAtMs: number;
}

/** The fault of an application's credentials; null for valid ones. */
export type CredentialsFault = 'unknown_client' | 'wrong_secret' | null;

// Bounds memory: issuing a token above this limit revokes the oldest one.
const maxTokens = 10_000;

// Without PLATFORM_CLIENT_ID, any application is accepted, up to this number.
const maxApplications = 1_000;

/** Known applications and their access tokens. */
@Injectable()
export class AccessTokens {
  private readonly secrets = new Map<string, string>();
  private readonly tokens = new Map<string, AccessToken>();

  constructor(
    @Inject(CONFIG) private readonly config: SimulatorConfig,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
  ) {}

  /** Compares with the configured application, or with the secret that the client id was first used with. */
  checkCredentials(clientId: string, clientSecret: string): CredentialsFault {
    const { PLATFORM_CLIENT_ID, PLATFORM_CLIENT_SECRET } = this.config;
    if (PLATFORM_CLIENT_ID !== undefined) {
      if (clientId !== PLATFORM_CLIENT_ID) return 'unknown_client';
      if (PLATFORM_CLIENT_SECRET !== undefined) {
        return clientSecret === PLATFORM_CLIENT_SECRET ? null : 'wrong_secret';
      }
    }
    const known = this.secrets.get(clientId);
    if (known !== undefined) return clientSecret === known ? null : 'wrong_secret';
    if (this.secrets.size >= maxApplications) return 'unknown_client';
    this.secrets.set(clientId, clientSecret);
    return null;
  }

  /** Whether this application is configured or has requested a token before. */
  isKnownClient(clientId: string): boolean {
    return this.config.PLATFORM_CLIENT_ID === clientId || this.secrets.has(clientId);
  }

  /** Issues a new token to an application. */
  issue(clientId: string, nowMs: number): { token: string; expiresInSeconds: number } {
    const [oldest] = this.tokens.keys();
    if (this.tokens.size >= maxTokens && oldest !== undefined) this.tokens.delete(oldest);
    // Random and never derived from the seed, because a token is a secret even in a simulation.
    const token = randomBytes(15).toString('hex');
    const expiresInSeconds = this.limits.current.token_seconds;
    this.tokens.set(token, { clientId, expiresAtMs: nowMs + expiresInSeconds * 1_000 });
    return { token, expiresInSeconds };
  }

  /** Finds a token that is valid now. */
  find(token: string, nowMs: number): AccessToken | undefined {
    const found = this.tokens.get(token);
    return found !== undefined && nowMs < found.expiresAtMs ? found : undefined;
  }

  /** Revokes a token; false when the application has no such token. */
  revoke(token: string, clientId: string): boolean {
    return this.tokens.get(token)?.clientId === clientId && this.tokens.delete(token);
  }

  revokeAll(): number {
    const count = this.tokens.size;
    this.tokens.clear();
    return count;
  }
}
