import { Inject, Injectable } from '@nestjs/common';
import { sqlState } from '@stream-events/database';
import {
  PlatformUnavailableError,
  type PlatformCredentials,
  type PlatformReply,
} from '@stream-events/platforms';
import { LOGGER, type Logger } from '@stream-events/service';
import type { EntityManager } from 'typeorm';
import { AppTokensRepository, type HeldToken } from './app-tokens.repository.js';
import { PlatformHealth } from './platform-health.service.js';
import { PlatformHttp } from './platform-http.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from './platform-settings.js';
import { refusalPauseMs } from './retry-schedule.js';

/** What the service knows about the credentials without calling the platform. */
export interface CredentialsStatus {
  present: boolean;
  /** Whether the platform accepts the credentials; null before the first request for a token. */
  valid: boolean | null;
  /** In milliseconds since 1970. */
  tokenExpiresAt: number | null;
}

type Renewal = { kind: 'held'; held: HeldToken } | { kind: 'refused'; refusal: string };

// The time limit of a token request. It must be shorter than the lock's timeout, so that instances that wait for the lock get the new
// token.
const issueTimeoutMs = 3_000;

// How long to pause after a failed background renewal. During the pause, calls keep using the old token.
const renewalPauseMs = 30_000;

/**
 * Provides the application's access token, which all instances share.
 *
 * ```
 *              issued
 *  none ─────────────────────▶ valid ──┐ less than a tenth of its lifetime is left: renewed in the background
 *   │ ▲                        │  ▲ ▲──┘
 *   │ └── expired, or 401 ─────┘  │
 *   │ rejected                    │ issued
 *   ▼                             │
 *  credentials rejected ──────────┘ retries after 30 s, later after up to 10 min
 * ```
 */
@Injectable()
export class AppTokens {
  /** Null: the token belongs to the application, not to a user. See `TokenSource`. */
  readonly userId = null;
  private held: HeldToken | undefined;
  /** A token that the platform rejected with 401 before its expiry. */
  private refusedToken: string | undefined;
  private renewing: Promise<HeldToken> | undefined;
  private refusals = 0;
  private refusedUntil = 0;
  private renewsBesideFrom = 0;

  constructor(
    private readonly repository: AppTokensRepository,
    private readonly http: PlatformHttp,
    private readonly health: PlatformHealth,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Returns a token that is valid as far as the service knows.
   *
   * @throws PlatformUnavailableError when there is no token and the platform does not issue one
   */
  async current(): Promise<string> {
    const { clientId } = this.credentials();
    if (!this.isGood(this.held)) this.held = (await this.repository.find(clientId)).held;
    const { held } = this;
    if (!this.isGood(held)) return (await this.renewOnce(undefined)).token;
    if (isDue(held) && Date.now() >= this.renewsBesideFrom) this.renewBeside(held);
    return held.token;
  }

  /**
   * Returns a replacement for a token that the platform rejected. Uses a token that another call has obtained in the meantime, or requests
   * a new one.
   */
  async replace(refused: string): Promise<string> {
    this.refusedToken = refused;
    const held = this.isGood(this.held) ? this.held : await this.renewOnce(refused);
    return held.token;
  }

  async status(): Promise<CredentialsStatus> {
    const { credentials } = this.settings;
    if (!credentials) return { present: false, valid: null, tokenExpiresAt: null };
    const { held, refusal } = await this.repository.find(credentials.clientId);
    const isAccepted = held ? true : null;
    return {
      present: true,
      valid: refusal === null ? isAccepted : false,
      tokenExpiresAt: held?.expiresAt ?? null,
    };
  }

  private credentials(): PlatformCredentials {
    const { credentials } = this.settings;
    if (credentials?.clientSecret !== undefined)
      return { clientId: credentials.clientId, clientSecret: credentials.clientSecret };
    throw new PlatformUnavailableError(
      'No platform credentials are configured. Set PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET.',
      3_600,
    );
  }

  /** Renews the token before it expires. Calls do not wait for the renewal, and keep using the old token if it fails. */
  private renewBeside(held: HeldToken): void {
    this.renewsBesideFrom = Date.now() + renewalPauseMs;
    this.renewOnce(held.token).catch((error: unknown) => {
      this.logger.warn({ err: error }, 'cannot renew the access token, still using the old token');
    });
  }

  /** Starts a renewal, or joins the one in progress. Each process runs at most one at a time. */
  private renewOnce(unwanted: string | undefined): Promise<HeldToken> {
    this.renewing ??= this.renew(unwanted).finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async renew(unwanted: string | undefined): Promise<HeldToken> {
    const credentials = this.credentials();
    const { clientId } = credentials;
    const renewal = await this.repository
      .exclusively(clientId, (manager) => this.renewUnderLock(credentials, unwanted, manager))
      .catch(rethrowLockTimeout);
    if (renewal.kind === 'refused') throw refusedError(renewal.refusal, this.refusedUntil);
    this.held = renewal.held;
    return renewal.held;
  }

  private async renewUnderLock(
    credentials: PlatformCredentials,
    unwanted: string | undefined,
    manager: EntityManager,
  ): Promise<Renewal> {
    const { clientId } = credentials;
    const stored = await this.repository.find(clientId, manager);
    if (this.isGood(stored.held) && stored.held.token !== unwanted)
      return { kind: 'held', held: stored.held };
    if (Date.now() < this.refusedUntil) return { kind: 'refused', refusal: stored.refusal ?? '' };
    const renewal = await this.issue(credentials);
    if (renewal.kind === 'held') {
      await this.repository.save(clientId, { held: renewal.held, refusal: null }, manager);
    } else {
      const held = this.isGood(stored.held) ? stored.held : undefined;
      await this.repository.save(clientId, { held, refusal: renewal.refusal }, manager);
    }
    return renewal;
  }

  private isGood(held: HeldToken | undefined): held is HeldToken {
    return held !== undefined && Date.now() < held.expiresAt && held.token !== this.refusedToken;
  }

  private async issue(credentials: PlatformCredentials): Promise<Renewal> {
    const now = Date.now();
    const { definition, urls } = this.settings;
    const { protocol } = definition;
    const request = protocol.tokenRequest(urls.auth, credentials);
    const answer = await this.http.send({ endpoint: 'token', ...request }, issueTimeoutMs);
    if (protocol.isCredentialsRefusal(answer)) return this.onRefused(answer);
    const { token, expiresInMs } = this.health.noting('token', () => protocol.readToken(answer));
    this.refusedToken = undefined; // if the platform issues the same token again, it is valid
    this.refusals = 0;
    this.refusedUntil = 0;
    const held = { token, issuedAt: now, expiresAt: now + expiresInMs };
    this.logger.info({ expiresAt: new Date(held.expiresAt) }, 'access token issued');
    return { kind: 'held', held };
  }

  private onRefused({ status, body }: PlatformReply): Renewal {
    const refusal = `${status} ${this.settings.definition.protocol.readErrorMessage(body)}`;
    this.refusals += 1;
    this.refusedUntil = Date.now() + refusalPauseMs(this.refusals);
    this.health.noteError('the platform rejects the credentials', refusedError(refusal, this.refusedUntil));
    return { kind: 'refused', refusal };
  }
}

function refusedError(refusal: string, until: number): PlatformUnavailableError {
  return new PlatformUnavailableError(
    `The platform rejects PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET: ${refusal}`,
    Math.max(1, Math.ceil((until - Date.now()) / 1_000)),
  );
}

/** Turns a lock timeout into a PlatformUnavailableError: the instance with the lock gets no reply from the platform. */
function rethrowLockTimeout(error: unknown): never {
  if (sqlState(error) !== '55P03') throw error;
  const message = 'The platform does not reply to another instance that is requesting an access token.';
  throw new PlatformUnavailableError(message, 5, { cause: error });
}

/** Whether less than a tenth of the token's lifetime is left. Tokens live about 60 days, so renewal is due 6 days before expiry. */
function isDue({ issuedAt, expiresAt }: HeldToken): boolean {
  return expiresAt - Date.now() < (expiresAt - issuedAt) / 10;
}
