import { readCount, readObject, readText } from './answer-fields.js';
import { malformed } from './platform-call-error.js';
import type { PlatformCredentials } from './platform-settings.js';

/** An access token as the platform issues it. */
export interface IssuedToken {
  token: string;
  expiresInMs: number;
}

// It goes into a header.
const tokenPattern = /^[\x21-\x7e]{1,4096}$/;

/** The form of `POST token` that exchanges the credentials for an access token (docs/platform-facts.md §4.1). */
export function toTokenForm({ clientId, clientSecret }: PlatformCredentials): string {
  return new URLSearchParams({
    client_id: clientId,
    client_secret: clientSecret,
    grant_type: 'client_credentials',
  }).toString();
}

export function readIssuedToken(body: unknown): IssuedToken {
  const fields = readObject(body, 'the access token');
  const token = readText(fields, 'access_token');
  if (!tokenPattern.test(token)) throw malformed('access_token is no token');
  return { token, expiresInMs: readCount(fields, 'expires_in') * 1_000 };
}
