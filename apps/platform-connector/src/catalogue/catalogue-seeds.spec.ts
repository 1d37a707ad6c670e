import { apiEndpoints, scopes } from '@stream-events/platform-catalogue';
import { createApiEndpoint, createScope } from '@stream-events/contracts';
import { parseRequest } from '@stream-events/messaging';
import { catalogueSeeds } from './catalogue-seeds.js';

const ids = [...catalogueSeeds.scopes, ...catalogueSeeds.apiEndpoints].map(({ id }) => id);

describe('seeds of the catalogue', () => {
  it('are all scopes and API endpoints, in their order', () => {
    expect(catalogueSeeds.scopes.map(({ scope }) => scope)).toEqual(scopes.map(({ scope }) => scope));
    expect(catalogueSeeds.apiEndpoints.map(({ endpoint, method }) => [endpoint, method])).toEqual(
      apiEndpoints.map(({ endpoint, method }) => [endpoint, method]),
    );
  });

  it('have ids that no two of them share', () => {
    expect(ids).toHaveLength(81 + 149);
    expect(new Set(ids).size).toBe(ids.length);
  });

  // Other ids would be seeded again, beside the rows that are there.
  it('have the ids that they had in the first version', () => {
    const scope = catalogueSeeds.scopes.find((seed) => seed.scope === 'user:read:chat');
    const endpoint = catalogueSeeds.apiEndpoints.find((seed) => seed.endpoint === 'channels/commercial');

    expect(scope?.id).toBe('0bd92a09-59b5-536f-880a-7140fc066e18');
    expect(endpoint?.id).toBe('fcbf7afb-7afe-5631-8b46-8fe8e0d015ab');
  });

  it('name the scope that the platform wants, by its id', () => {
    const scopeById = new Map(catalogueSeeds.scopes.map(({ id, scope }) => [id, scope]));
    const named = catalogueSeeds.apiEndpoints.map(({ scope }) =>
      scope === null ? null : scopeById.get(scope),
    );

    expect(named).toEqual(apiEndpoints.map(({ scope }) => scope));
  });

  it('are what users could create themselves', () => {
    for (const seed of catalogueSeeds.scopes) parseRequest(createScope, { ...seed, required: false });
    for (const seed of catalogueSeeds.apiEndpoints) parseRequest(createApiEndpoint, seed);
  });
});
