import { readFileSync } from 'node:fs';
import { closeCodes } from './close-codes.js';

const apiDescription = readFileSync('docs/openapi.json', 'utf8');

describe('closeCodes', () => {
  it('has exactly the codes of the API description', () => {
    const described = [...apiDescription.matchAll(/- `(\d{4})`: /g)].map(([, code]) => Number(code));
    expect(new Set(described)).toEqual(new Set(Object.values(closeCodes)));
  });
});
