import { readData } from './read-data.js';

/** The kind of token that a call takes: a user's (`OA`) or the application's own (`AP`). */
export const tokenTypes = ['OA', 'AP'] as const;
export type TokenType = (typeof tokenTypes)[number];

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
}

/** All 149 endpoints of the API. */
export const apiEndpoints = readData('api-endpoints') as readonly ApiEndpoint[]; // Safe cast: api-endpoints.spec.ts checks the data.
