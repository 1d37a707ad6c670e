import { readJsonObject } from '@stream-events/contracts';
import { apiEndpoints, scopes } from '@stream-events/platforms';
import { ApiEndpointBody } from '../api-endpoints/api-endpoints.dto.js';
import { parseBody } from '../http/json-body.decorator.js';
import { ScopeBody } from '../scopes/scopes.dto.js';
import { platformSeeds } from './platform-seeds.js';

const ids = [...platformSeeds.scopes, ...platformSeeds.apiEndpoints].map(({ id }) => id);

describe('platform seeds', () => {
  it('contain all scopes and API endpoints, in their order', () => {
    expect(platformSeeds.scopes.map(({ scope }) => scope)).toEqual(scopes.map(({ scope }) => scope));
    expect(platformSeeds.apiEndpoints.map(({ endpoint, method }) => [endpoint, method])).toEqual(
      apiEndpoints.map(({ endpoint, method }) => [endpoint, method]),
    );
  });

  it('have unique ids', () => {
    expect(ids).toHaveLength(81 + 149);
    expect(new Set(ids).size).toBe(ids.length);
  });

  // With other ids, an upgraded service would add every row a second time.
  it('have the same ids as in the first version', () => {
    const scope = platformSeeds.scopes.find((seed) => seed.scope === 'user:read:chat');
    const endpoint = platformSeeds.apiEndpoints.find((seed) => seed.endpoint === 'channels/commercial');

    expect(scope?.id).toBe('0bd92a09-59b5-536f-880a-7140fc066e18');
    expect(endpoint?.id).toBe('fcbf7afb-7afe-5631-8b46-8fe8e0d015ab');
  });

  it('refer to scopes by their ids', () => {
    const scopeById = new Map(platformSeeds.scopes.map(({ id, scope }) => [id, scope]));
    const named = platformSeeds.apiEndpoints.map(({ scope }) =>
      scope === null ? null : scopeById.get(scope),
    );

    expect(named).toEqual(apiEndpoints.map(({ scope }) => scope));
  });

  it('pass the validation of the API', () => {
    const toJson = (body: object) => readJsonObject(Buffer.from(JSON.stringify(body)));
    for (const { scope } of platformSeeds.scopes) parseBody(ScopeBody, toJson({ scope }));
    for (const { referenceUrl, tokenType, ...others } of platformSeeds.apiEndpoints)
      parseBody(ApiEndpointBody, toJson({ ...others, reference_url: referenceUrl, token_type: tokenType }));
  });
});
