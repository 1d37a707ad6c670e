import type {
  IssuedToken,
  PlatformCredentials,
  PlatformProtocol,
  PlatformReply,
} from '../outbound-platform.js';
import { malformed } from '../platform-call-error.js';
import { readCount, readObject, readText } from '../reply-fields.js';

/** An access token or refresh token. Accepts only text that is valid in a header. */
export const tokenPattern = /^[\x21-\x7e]{1,4096}$/;

/** Returns the request `POST token`, which exchanges the credentials for an access token (FACTS.md §4.1). */
export function toTokenRequest(
  authUrl: string,
  { clientId, clientSecret }: PlatformCredentials,
): ReturnType<PlatformProtocol['tokenRequest']> {
  const form = new URLSearchParams({
    client_id: clientId,
    client_secret: clientSecret,
    grant_type: 'client_credentials',
  });
  return {
    method: 'POST',
    url: `${authUrl}/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  };
}

/** Whether Twitch rejected the credentials. */
export function isCredentialsRefusal({ status }: PlatformReply): boolean {
  return [400, 401, 403].includes(status);
}

/** Reads the reply to `POST token`. */
export function readToken({ status, body }: PlatformReply): IssuedToken {
  if (status !== 200) throw malformed(`status ${status} for an access token`);
  const fields = readObject(body, 'the access token');
  const token = readText(fields, 'access_token');
  if (!tokenPattern.test(token)) throw malformed('access_token is not a token');
  return { token, expiresInMs: readCount(fields, 'expires_in') * 1_000 };
}
