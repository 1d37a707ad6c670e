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

/** What is known of the credentials, without asking the platform. */
export interface CredentialsStatus {
  present: boolean;
  /** Whether the platform has accepted them; null while it was not asked. */
  valid: boolean | null;
  /** Milliseconds since 1970. */
  tokenExpiresAt: number | null;
}

type Renewal = { kind: 'held'; held: HeldToken } | { kind: 'refused'; refusal: string };

// Shorter than the lock's time limit, so that who waits for it gets the token that comes of it.
const issueTimeoutMs = 3_000;

// A token is renewed beside the calls that still use it; a platform that fails is asked again after this.
const renewalPauseMs = 30_000;

/**
 * The application's access token, one for all instances.
 *
 * ```
 *              issued
 *  none ─────────────────────▶ good ──┐ a tenth of its life is left: another is issued beside the calls
 *   │ ▲                        │  ▲ ▲─┘
 *   │ └── over, or 401 ────────┘  │
 *   │ refused                     │ issued
 *   ▼                             │
 *  credentials refused ───────────┘ asked again after 30 s, later after up to 10 min
 * ```
 */
@Injectable()
export class AppTokens {
  private held: HeldToken | undefined;
  /** The platform has said 401 to it, however long it should have lived. */
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
   * A token that is good, as far as is known.
   *
   * @throws PlatformUnavailableError when there is none and none is issued
   */
  async current(): Promise<string> {
    const { clientId } = this.credentials();
    if (!this.isGood(this.held)) this.held = (await this.repository.find(clientId)).held;
    const { held } = this;
    if (!this.isGood(held)) return (await this.renewOnce(undefined)).token;
    if (isDue(held) && Date.now() >= this.renewsBesideFrom) this.renewBeside(held);
    return held.token;
  }

  /** Another token for one that the platform has refused: the one that somebody else has got meanwhile, or a new one. */
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
    if (this.settings.credentials) return this.settings.credentials;
    throw new PlatformUnavailableError(
      'There are no credentials for the platform: set PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET.',
      3_600,
    );
  }

  /** Early, so that no call waits for it, and its failure harms none. */
  private renewBeside(held: HeldToken): void {
    this.renewsBesideFrom = Date.now() + renewalPauseMs;
    this.renewOnce(held.token).catch((error: unknown) => {
      this.logger.warn({ err: error }, 'access token could not be renewed; the old one is used on');
    });
  }

  /** However many calls need it in this process, one renewal is under way. */
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
    this.refusedToken = undefined; // the platform may issue the same again, and mean it
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
    this.health.noteError('the platform refuses the credentials', refusedError(refusal, this.refusedUntil));
    return { kind: 'refused', refusal };
  }
}

function refusedError(refusal: string, until: number): PlatformUnavailableError {
  return new PlatformUnavailableError(
    `The platform refuses PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET: ${refusal}`,
    Math.max(1, Math.ceil((until - Date.now()) / 1_000)),
  );
}

/** Who waits for the lock so long waits for instances that get no answer either. */
function rethrowLockTimeout(error: unknown): never {
  if (sqlState(error) !== '55P03') throw error;
  const message = 'The platform has not answered to other instances, which ask for an access token.';
  throw new PlatformUnavailableError(message, 5, { cause: error });
}

/** Whether less than a tenth of its life is left: days of the platform's 60. */
function isDue({ issuedAt, expiresAt }: HeldToken): boolean {
  return expiresAt - Date.now() < (expiresAt - issuedAt) / 10;
}
