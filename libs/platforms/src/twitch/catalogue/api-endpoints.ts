import { readData } from './read-data.js';

/** The type of token that a call needs: a user access token (`OA`) or an app access token (`AP`). */
export const tokenTypes = ['OA', 'AP'] as const;
export type TokenType = (typeof tokenTypes)[number];

/**
 * The tokens that an endpoint accepts. `app_with_grant_or_user`: the app access token also works if the acting user has granted the scope
 * to the application. `ext_jwt`: only the token of an Extension's backend works.
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

/** An endpoint of the platform's API (FACTS.md §6). */
export interface ApiEndpoint {
  description: string;
  /** The path, relative to the API's base URL. */
  endpoint: string;
  method: string;
  reference_url: string;
  token_type: TokenType;
  /** The least privileged scope that suffices; null when the call needs none. */
  scope: string | null;
  /** A user access token needs one of these scopes. Empty when the call needs none. */
  scopes_any_of: readonly string[];
  auth: AcceptedTokens;
}

/** All 149 endpoints of the API. */
export const apiEndpoints = readData('api-endpoints') as readonly ApiEndpoint[]; // Safe cast: api-endpoints.spec.ts checks the data.
