import { apiEndpoints, scopes } from '@stream-events/platforms';
import { v5 as uuidV5 } from 'uuid';
import type { ApiEndpoint } from '../api-endpoints/api-endpoint.entity.js';
import type { Scope } from '../scopes/scope.entity.js';

/** The scopes and API endpoints of a new installation. */
export interface PlatformSeeds {
  scopes: readonly Pick<Scope, 'id' | 'scope'>[];
  apiEndpoints: readonly Omit<ApiEndpoint, 'number'>[];
}

// Seed ids are derived from this namespace and the names below. Never change the namespace or a name: the service would add the affected
// rows a second time, under new ids.
const namespace = '6ec2b246-6076-4eb2-afd8-be7ff1c6f020';

/** The platform's scopes and API endpoints. They have the same ids in every installation and version. */
export const platformSeeds: PlatformSeeds = {
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
