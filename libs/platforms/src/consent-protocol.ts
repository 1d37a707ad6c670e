import type { PlatformReply } from './outbound-platform.js';

/** A request to the platform's authorization server. */
export interface AuthorizationRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** The application on the platform. A public application has no secret. */
export interface Application {
  clientId: string;
  clientSecret: string | undefined;
}

/** A code that a user enters on the platform's page to give consent. */
export interface DeviceCode {
  /** Identifies the code in requests for the tokens. Secret. */
  deviceCode: string;
  /** The code that the user enters. */
  userCode: string;
  /** The page on which the user enters the code. */
  verificationUri: string;
  expiresInMs: number;
  /** How long to wait between two requests for the tokens. */
  intervalMs: number;
}

/** The tokens of a user who has given consent. */
export interface UserTokens {
  accessToken: string;
  refreshToken: string;
}

/** The reply to a request for the tokens of a device code. */
export type DeviceCodeOutcome =
  | { kind: 'issued'; tokens: UserTokens }
  /** The user has not decided yet. */
  | { kind: 'pending' }
  /**
   * The code has expired or was used, the user has refused, or the code is still valid. The platform sends the same reply in all these
   * cases.
   */
  | { kind: 'doubtful' }
  /** The platform will never accept the code. */
  | { kind: 'ended'; message: string };

/** The reply to a refresh. A refused refresh token is lost: the user must give consent again. */
export type RefreshOutcome = { kind: 'issued'; tokens: UserTokens } | { kind: 'refused'; message: string };

/** The reply to an exchange of an authorization code. A code can be exchanged once. */
export type CodeOutcome = RefreshOutcome;

/** The parameters of the platform's authorize page. */
export interface AuthorizePageRequest {
  clientId: string;
  /** The URL to which the user returns. Must equal a URL that is registered for the application. */
  redirectUri: string;
  scopes: readonly string[];
  /** The platform returns this text unchanged when the user comes back. */
  state: string;
}

/** The owner and the scopes of an access token. */
export interface TokenOwner {
  userId: string;
  /** The name in lower case. */
  login: string;
  scopes: string[];
}

/**
 * The wire shapes of user consent. Every `read…` method throws PlatformCallError: `malformed` for an undocumented reply,
 * `unexpected_status` when the platform rejects the application.
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
  /** Returns the URL of the page on which a user gives consent. The user returns from this page with a code. */
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
  /** Returns null when the token is not valid, or no longer valid. */
  readValidation(reply: PlatformReply): TokenOwner | null;
  revocationRequest(authUrl: string, clientId: string, accessToken: string): AuthorizationRequest;
}
