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
  /** What the user enters. */
  userCode: string;
  /** The page on which the user enters it. */
  verificationUri: string;
  expiresInMs: number;
  /** The time between requests for the tokens. */
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
  /** The code has expired or was used, or the user has refused, or none of these: the platform does not tell them apart. */
  | { kind: 'doubtful' }
  /** The platform will never accept the code. */
  | { kind: 'ended'; message: string };

/** The reply to a refresh. A refused refresh token is lost: the user must give consent again. */
export type RefreshOutcome = { kind: 'issued'; tokens: UserTokens } | { kind: 'refused'; message: string };

/** The reply to an exchange of an authorization code, which is valid once. */
export type CodeOutcome = RefreshOutcome;

/** What an application asks on the platform's authorize page. */
export interface AuthorizePageRequest {
  clientId: string;
  /** Where the user returns to: exactly an address that the application has registered. */
  redirectUri: string;
  scopes: readonly string[];
  /** Returned with the user, unchanged. */
  state: string;
}

/** Whom an access token belongs to, and what it permits. */
export interface TokenOwner {
  userId: string;
  /** The name in lower case. */
  login: string;
  scopes: string[];
}

/** The wire shapes of the consent of users. Every `read…` method throws PlatformCallError `malformed`. */
export interface ConsentProtocol {
  deviceCodeRequest(authUrl: string, clientId: string, scopes: readonly string[]): AuthorizationRequest;
  readDeviceCode(reply: PlatformReply): DeviceCode;
  deviceTokenRequest(
    authUrl: string,
    clientId: string,
    grant: { deviceCode: string; scopes: readonly string[] },
  ): AuthorizationRequest;
  readDeviceToken(reply: PlatformReply): DeviceCodeOutcome;
  /** The address of the page on which a user gives consent and returns with a code. */
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
  /** Null when the token is not valid (any more). */
  readValidation(reply: PlatformReply): TokenOwner | null;
  revocationRequest(authUrl: string, clientId: string, accessToken: string): AuthorizationRequest;
}
