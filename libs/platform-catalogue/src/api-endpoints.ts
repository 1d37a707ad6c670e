import { readData } from './read-data.js';

/** An endpoint of the platform's API (docs/platform-facts.md §6). */
export interface ApiEndpoint {
  description: string;
  /** Relative to the API's base URL. */
  endpoint: string;
  method: string;
  reference_url: string;
  /** Whose token it takes: a user's (`OA`) or the app's own (`AP`). */
  token_type: 'OA' | 'AP';
  /** The scope that asks for least; null when none is needed. */
  scope: string | null;
}

/** All 149 endpoints. */
export const apiEndpoints = readData('api-endpoints') as readonly ApiEndpoint[]; // holds: api-endpoints.spec.ts checks the data
