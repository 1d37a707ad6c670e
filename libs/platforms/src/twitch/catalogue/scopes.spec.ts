import { scopes } from './scopes.js';

describe('scopes', () => {
  it('are 81 unique scopes', () => {
    expect(scopes).toHaveLength(81);
    expect(new Set(scopes.map(({ scope }) => scope)).size).toBe(81);
  });

  it.each(scopes)('have valid fields: $scope', (scope) => {
    expect(scope).toEqual({
      scope: expect.stringMatching(/^[a-z_]+(:[a-z_]+){1,2}$/),
      description: expect.stringMatching(/^\S.*\S$/),
    });
  });
});
