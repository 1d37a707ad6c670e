import { readData } from './read-data.js';

/** The kind of token that a call needs: a user's (`OA`) or the application's own (`AP`). */
export const tokenTypes = ['OA', 'AP'] as const;
export type TokenType = (typeof tokenTypes)[number];

/**
 * The tokens that an endpoint accepts: the application's, a user's, or either. `app_with_grant_or_user` accepts the application's token if
 * the user who acts has granted the scope to the application. `ext_jwt` accepts only a token of an Extension's backend.
 */
export const acceptedTokens = [
  'app',
  'app_or_user',
  'app_with_grant_or_user',
  'user',
  'ext_jwt',
  'none',
] as const;
export type AcceptedTokens = (typeof acceptedTokens)[number];

/** An endpoint of the platform's API (docs/platform-facts.md §6). */
export interface ApiEndpoint {
  description: string;
  /** Relative to the API's base URL. */
  endpoint: string;
  method: string;
  reference_url: string;
  token_type: TokenType;
  /** The scope with the least privilege; null when none is needed. */
  scope: string | null;
  /** A user's token needs one of these scopes. Empty when the call needs no scope. */
  scopes_any_of: readonly string[];
  auth: AcceptedTokens;
}

/** All 149 endpoints of the API. */
export const apiEndpoints = readData('api-endpoints') as readonly ApiEndpoint[]; // Safe cast: api-endpoints.spec.ts checks the data.
