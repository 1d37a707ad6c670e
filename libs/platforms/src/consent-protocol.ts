import type { PlatformReply } from './outbound-platform.js';

export interface AuthorizationRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** The service's application on the platform. A public application has no secret. */
export interface Application {
  clientId: string;
  clientSecret: string | undefined;
}

/** A code that a user enters on the platform's page to give consent. */
export interface DeviceCode {
  /** Secret. Identifies the code when the service requests the tokens. */
  deviceCode: string;
  userCode: string;
  /** The page on which the user enters the code. */
  verificationUri: string;
  expiresInMs: number;
  /** How long to wait between two requests for the tokens, in milliseconds. */
  intervalMs: number;
}

export interface UserTokens {
  accessToken: string;
  refreshToken: string;
}

export type DeviceCodeOutcome =
  | { kind: 'issued'; tokens: UserTokens }
  /** The user has not decided yet. */
  | { kind: 'pending' }
  /** The reply does not show whether the code has expired, was already used, was refused by the user, or is still valid. */
  | { kind: 'doubtful' }
  /** The platform will never accept the code. */
  | { kind: 'ended'; message: string };

/** The reply to a refresh. After `refused`, the refresh token is useless, and the user must give consent again. */
export type RefreshOutcome = { kind: 'issued'; tokens: UserTokens } | { kind: 'refused'; message: string };

/** The reply to an exchange of an authorization code. A code can be exchanged only once. */
export type CodeOutcome = RefreshOutcome;

export interface AuthorizePageRequest {
  clientId: string;
  /** The URL to which the platform sends the user back. Must equal a URL that is registered for the application. */
  redirectUri: string;
  scopes: readonly string[];
  /** The platform returns this text unchanged when the user comes back. */
  state: string;
}

/** The owner and the scopes of an access token. */
export interface TokenOwner {
  userId: string;
  /** The user name in lower case. */
  login: string;
  scopes: string[];
}

/**
 * The platform's requests and replies for user consent. Every `read…` method throws PlatformCallError `malformed` for an undocumented
 * reply. `readCodeTokens` and `readRefresh` throw PlatformCallError `unexpected_status` when the platform rejects the application's
 * credentials.
 */
export interface ConsentProtocol {
  deviceCodeRequest(authUrl: string, clientId: string, scopes: readonly string[]): AuthorizationRequest;
  readDeviceCode(reply: PlatformReply): DeviceCode;
  deviceTokenRequest(
    authUrl: string,
    clientId: string,
    grant: { deviceCode: string; scopes: readonly string[] },
  ): AuthorizationRequest;
  readDeviceToken(reply: PlatformReply): DeviceCodeOutcome;
  /** Returns the URL of the page on which a user gives consent. The page sends the user back, with a code unless the user refuses. */
  authorizePage(authUrl: string, request: AuthorizePageRequest): string;
  codeTokenRequest(
    authUrl: string,
    application: Application,
    grant: { code: string; redirectUri: string },
  ): AuthorizationRequest;
  readCodeTokens(reply: PlatformReply): CodeOutcome;
  refreshRequest(authUrl: string, application: Application, refreshToken: string): AuthorizationRequest;
  readRefresh(reply: PlatformReply): RefreshOutcome;
  validationRequest(authUrl: string, accessToken: string): AuthorizationRequest;
  /** Returns null when the token is invalid, for example because it has expired. */
  readValidation(reply: PlatformReply): TokenOwner | null;
  revocationRequest(authUrl: string, clientId: string, accessToken: string): AuthorizationRequest;
}
