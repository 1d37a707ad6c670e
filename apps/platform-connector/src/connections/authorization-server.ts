import { Inject, Injectable } from '@nestjs/common';
import { connectionCallbackPath } from '@stream-events/contracts';
import {
  PlatformUnavailableError,
  type Application,
  type AuthorizationEndpoint,
  type AuthorizationRequest,
  type CodeOutcome,
  type ConsentProtocol,
  type DeviceCode,
  type DeviceCodeOutcome,
  type PlatformReply,
  type RefreshOutcome,
  type TokenOwner,
} from '@stream-events/platforms';
import { CONFIG } from '@stream-events/service';
import type { PlatformConnectorConfig } from '../platform-connector.config.js';
import { PlatformHealth } from '../platform/platform-health.service.js';
import { PlatformHttp } from '../platform/platform-http.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';

// The time limit of all calls except refreshes. A user waits at most 4.5 s for a device code, so the limit is below that. The platform
// usually replies within 200 ms.
const timeoutMs = 3_500;

/**
 * The time limit of a token refresh. It is longer than for other calls: if the reply is lost, a one-time refresh token is used up, and the
 * user must give consent again. The limit must be shorter than 10 s, after which the database ends an idle transaction.
 */
export const refreshTimeoutMs = 8_000;

/**
 * Calls the platform's authorization server to get users' consent and tokens. Every call throws PlatformUnavailableError when the platform
 * does not reply in time or sends a malformed reply. All methods except `validate` and `accepts` also throw it when no application is
 * configured.
 */
@Injectable()
export class AuthorizationServer {
  private readonly consent: ConsentProtocol;

  constructor(
    private readonly http: PlatformHttp,
    private readonly health: PlatformHealth,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    @Inject(CONFIG) private readonly config: Pick<PlatformConnectorConfig, 'PUBLIC_URL'>,
  ) {
    this.consent = settings.definition.consent;
  }

  /** The application's client id. When undefined, no application is configured, and no user can give consent. */
  get clientId(): string | undefined {
    return this.settings.credentials?.clientId;
  }

  async requestDeviceCode(scopes: readonly string[]): Promise<DeviceCode> {
    const { clientId } = this.credentials();
    const request = this.consent.deviceCodeRequest(this.settings.urls.auth, clientId, scopes);
    return this.send('device_code', request, (reply) => this.consent.readDeviceCode(reply));
  }

  async requestTokens(deviceCode: string, scopes: readonly string[]): Promise<DeviceCodeOutcome> {
    const { clientId } = this.credentials();
    const grant = { deviceCode, scopes };
    const request = this.consent.deviceTokenRequest(this.settings.urls.auth, clientId, grant);
    return this.send('user_token', request, (reply) => this.consent.readDeviceToken(reply));
  }

  /**
   * Returns the URL of the page on which a user gives consent. Returns undefined if `PUBLIC_URL` or the client secret is missing: the
   * browser returns to `PUBLIC_URL`, and the application needs the secret to exchange the code.
   */
  authorizePage(scopes: readonly string[], state: string): string | undefined {
    const { redirectUri } = this;
    const { clientId, clientSecret } = this.credentials();
    if (clientSecret === undefined) return undefined;
    const request = { clientId, scopes, state };
    return redirectUri && this.consent.authorizePage(this.settings.urls.auth, { ...request, redirectUri });
  }

  async exchangeCode(code: string): Promise<CodeOutcome> {
    const grant = { code, redirectUri: this.redirectUri ?? '' };
    const request = this.consent.codeTokenRequest(this.settings.urls.auth, this.credentials(), grant);
    return this.send('user_token', request, (reply) => this.consent.readCodeTokens(reply));
  }

  async refresh(refreshToken: string): Promise<RefreshOutcome> {
    const request = this.consent.refreshRequest(this.settings.urls.auth, this.credentials(), refreshToken);
    return this.send('user_token', request, (reply) => this.consent.readRefresh(reply), refreshTimeoutMs);
  }

  /** Returns the owner of a token, or null when the token is invalid. */
  async validate(accessToken: string): Promise<TokenOwner | null> {
    const request = this.consent.validationRequest(this.settings.urls.auth, accessToken);
    return this.send('validate', request, (reply) => this.consent.readValidation(reply));
  }

  /** Whether a token is valid. Works for the tokens of users and of the application. */
  async accepts(accessToken: string): Promise<boolean> {
    const request = this.consent.validationRequest(this.settings.urls.auth, accessToken);
    return this.send('validate', request, ({ status }) => status !== 401);
  }

  /** Revokes a token. Succeeds even if the platform does not know it. */
  async revoke(accessToken: string): Promise<void> {
    const { clientId } = this.credentials();
    const request = this.consent.revocationRequest(this.settings.urls.auth, clientId, accessToken);
    await this.send('revoke', request, () => undefined);
  }

  private async send<T>(
    endpoint: AuthorizationEndpoint,
    request: AuthorizationRequest,
    read: (reply: PlatformReply) => T,
    limitMs = timeoutMs,
  ): Promise<T> {
    const reply = await this.http.send({ endpoint, ...request }, limitMs);
    return this.health.noting(endpoint, () => read(reply));
  }

  private get redirectUri(): string | undefined {
    const { PUBLIC_URL: publicUrl } = this.config;
    return publicUrl && publicUrl + connectionCallbackPath;
  }

  private credentials(): Application {
    if (this.settings.credentials) return this.settings.credentials;
    throw new PlatformUnavailableError(
      'No platform application is configured. Set PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET.',
      3_600,
    );
  }
}
