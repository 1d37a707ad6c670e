import type { TokenType } from '@stream-events/contracts';
import { apiEndpoints, scopes } from '@stream-events/platform-catalogue';
import { v5 as uuidV5 } from 'uuid';

/** A scope as it is seeded. */
export interface ScopeSeed {
  id: string;
  scope: string;
}

/** An API endpoint as it is seeded. */
export interface ApiEndpointSeed {
  id: string;
  description: string;
  endpoint: string;
  method: string;
  referenceUrl: string;
  tokenType: TokenType;
  /** The id of a seeded scope; null when none is needed. */
  scope: string | null;
}

/** What the lists of a new installation hold. */
export interface CatalogueSeeds {
  scopes: readonly ScopeSeed[];
  apiEndpoints: readonly ApiEndpointSeed[];
}

// Never to be changed, no more than what the ids are made of below: a row with another id would be seeded again.
const namespace = '6ec2b246-6076-4eb2-afd8-be7ff1c6f020';

/** The platform's scopes and API endpoints, each with an id that is the same in every installation and version. */
export const catalogueSeeds: CatalogueSeeds = {
  scopes: scopes.map(({ scope }) => ({ id: scopeId(scope), scope })),
  apiEndpoints: apiEndpoints.map(({ description, endpoint, method, reference_url, token_type, scope }) => ({
    id: uuidV5(`api-endpoint ${method} ${endpoint}`, namespace),
    description,
    endpoint,
    method,
    referenceUrl: reference_url,
    tokenType: token_type,
    scope: scope === null ? null : scopeId(scope),
  })),
};

function scopeId(scope: string): string {
  return uuidV5(`scope ${scope}`, namespace);
}
