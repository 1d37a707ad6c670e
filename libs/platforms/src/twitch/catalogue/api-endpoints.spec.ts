import { acceptedTokens, apiEndpoints } from './api-endpoints.js';
import { scopes } from './scopes.js';

describe('API endpoints', () => {
  it('are 149, with unique methods and paths', () => {
    expect(apiEndpoints).toHaveLength(149);
    expect(new Set(apiEndpoints.map(({ method, endpoint }) => `${method} ${endpoint}`)).size).toBe(149);
  });

  it.each(apiEndpoints)('have valid fields: $method $endpoint', (apiEndpoint) => {
    expect(apiEndpoint).toMatchObject({
      description: expect.stringMatching(/^\S.*\S$/),
      endpoint: expect.stringMatching(/^[a-z_]+(\/[a-z_]+)*$/),
      method: expect.stringMatching(/^(GET|POST|PUT|PATCH|DELETE)$/),
      reference_url: expect.stringMatching(/^https:\/\/\S+#\S+$/),
      token_type: expect.stringMatching(/^(OA|AP)$/),
      auth: expect.stringMatching(`^(${acceptedTokens.join('|')})$`),
    });
  });

  it('name known scopes, or none', () => {
    const known = new Set<string | null>(scopes.map(({ scope }) => scope)).add(null);

    expect(apiEndpoints.filter(({ scope }) => !known.has(scope))).toEqual([]);
    expect(apiEndpoints.flatMap((row) => row.scopes_any_of).filter((scope) => !known.has(scope))).toEqual([]);
  });
});
