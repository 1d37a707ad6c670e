import type { JsonObject } from '@stream-events/contracts';
import type {
  Application,
  AuthorizationRequest,
  AuthorizePageRequest,
  ConsentProtocol,
  DeviceCode,
  DeviceCodeOutcome,
  RefreshOutcome,
  TokenOwner,
  UserTokens,
} from '../consent-protocol.js';
import type { PlatformReply } from '../outbound-platform.js';
import { malformed, PlatformCallError } from '../platform-call-error.js';
import { readCount, readObject, readText } from '../reply-fields.js';
import { readErrorMessage } from './errors.external.js';
import { tokenPattern } from './token.external.js';

// Twitch sends these texts in `message`, although RFC 8628 says `error` (FACTS.md §4.7).
const pendingMessage = 'authorization_pending';
// Twitch has also sent this text for a code that the user could still confirm, so the text does not prove that the code has ended.
const doubtfulMessage = 'invalid device code';

// The messages with which Twitch rejects the application's credentials (status 400 or 403, FACTS.md §4.1).
const applicationRefusals = ['missing client secret', 'invalid client secret', 'invalid client'];

/** Twitch's requests and replies for user consent (FACTS.md §4.1 and §4.7). */
export const twitchConsent: ConsentProtocol = {
  deviceCodeRequest: (authUrl, clientId, scopes) =>
    toPost(`${authUrl}/device`, { client_id: clientId, scopes: scopes.join(' ') }),
  readDeviceCode,
  deviceTokenRequest: (authUrl, clientId, { deviceCode, scopes }) =>
    toPost(`${authUrl}/token`, {
      client_id: clientId,
      scopes: scopes.join(' '),
      device_code: deviceCode,
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    }),
  readDeviceToken,
  authorizePage,
  codeTokenRequest: (authUrl, application, { code, redirectUri }) =>
    toPost(`${authUrl}/token`, {
      ...toForm(application),
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
    }),
  readCodeTokens: (reply) => readIssuedTokens(reply, 'an authorization code'),
  refreshRequest: (authUrl, application, refreshToken) =>
    toPost(`${authUrl}/token`, {
      ...toForm(application),
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
    }),
  readRefresh: (reply) => readIssuedTokens(reply, 'a refresh'),
  validationRequest: (authUrl, accessToken) => ({
    method: 'GET',
    url: `${authUrl}/validate`,
    headers: { authorization: `OAuth ${accessToken}` },
  }),
  readValidation,
  revocationRequest: (authUrl, clientId, accessToken) =>
    toPost(`${authUrl}/revoke`, { client_id: clientId, token: accessToken }),
};

function toPost(url: string, form: Record<string, string>): AuthorizationRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  };
}

function readDeviceCode({ status, body }: PlatformReply): DeviceCode {
  if (status !== 200) throw malformed(`status ${status} for a device code: ${readErrorMessage(body)}`);
  const fields = readObject(body, 'the device code');
  return {
    deviceCode: readText(fields, 'device_code'),
    userCode: readText(fields, 'user_code'),
    verificationUri: readUrl(fields, 'verification_uri'),
    expiresInMs: readCount(fields, 'expires_in') * 1_000,
    // With an interval of 0, the service would poll without a pause.
    intervalMs: Math.max(1, readCount(fields, 'interval')) * 1_000,
  };
}

function readDeviceToken({ status, body }: PlatformReply): DeviceCodeOutcome {
  if (status === 200) return { kind: 'issued', tokens: readTokens(body) };
  const message = readErrorMessage(body);
  if (status !== 400) throw malformed(`status ${status} for a device code: ${message}`);
  if (message === pendingMessage) return { kind: 'pending' };
  return message === doubtfulMessage ? { kind: 'doubtful' } : { kind: 'ended', message };
}

function authorizePage(
  authUrl: string,
  { clientId, redirectUri, scopes, state }: AuthorizePageRequest,
): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    // Make Twitch show the page even if the browser's user has already given consent. The browser may be logged in as another user.
    force_verify: 'true',
  });
  return `${authUrl}/authorize?${query.toString()}`;
}

function toForm({ clientId, clientSecret }: Application): Record<string, string> {
  return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
}

/**
 * Reads the reply to a request for tokens. Status 400 or 401 refuses the code or the refresh token. If the platform rejects the application
 * instead, throws, so that a wrong configuration does not cost the refresh token.
 */
function readIssuedTokens({ status, body }: PlatformReply, what: string): RefreshOutcome {
  if (status === 200) return { kind: 'issued', tokens: readTokens(body) };
  const message = readErrorMessage(body);
  if (applicationRefusals.includes(message.toLowerCase()))
    throw new PlatformCallError(
      'unexpected_status',
      `The platform rejects the application: ${message}. Check PLATFORM_CLIENT_ID and PLATFORM_CLIENT_SECRET.`,
    );
  if (status === 400 || status === 401) return { kind: 'refused', message };
  throw malformed(`status ${status} for ${what}: ${message}`);
}

function readValidation({ status, body }: PlatformReply): TokenOwner | null {
  if (status === 401) return null;
  if (status !== 200) throw malformed(`status ${status} for a validation: ${readErrorMessage(body)}`);
  const fields = readObject(body, 'the validation');
  const scopes: unknown[] = Array.isArray(fields.scopes) ? fields.scopes : [];
  return {
    userId: readText(fields, 'user_id'),
    login: readText(fields, 'login'),
    scopes: scopes.filter((scope) => typeof scope === 'string'),
  };
}

function readTokens(body: unknown): UserTokens {
  const fields = readObject(body, 'the tokens');
  return { accessToken: readToken(fields, 'access_token'), refreshToken: readToken(fields, 'refresh_token') };
}

function readToken(fields: JsonObject, name: string): string {
  const token = readText(fields, name);
  if (!tokenPattern.test(token)) throw malformed(`${name} is not a token`);
  return token;
}

/** Reads a URL that people open in a browser. The scheme must be http or https. */
function readUrl(fields: JsonObject, name: string): string {
  const url = readText(fields, name);
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw malformed(`${name} is not a URL`);
  return url;
}
