import type { DataSource } from 'typeorm';
import { catalogueSeeds, type CatalogueSeeds } from './catalogue-seeds.js';

/**
 * Adds what was never seeded before: all of it at the first start, what is new at the first start of a later version. What
 * users have deleted stays deleted, and what they have changed stays as it is.
 *
 * Idempotent by the ids in `catalogue_seeds`. Of instances that start together one adds a row, and the others wait for its commit.
 */
export async function seedCatalogue(
  dataSource: DataSource,
  seeds: CatalogueSeeds = catalogueSeeds,
): Promise<void> {
  await dataSource.query(seedScopes, [JSON.stringify(seeds.scopes)]);
  // The order of a list of seeds is the order in which they are created.
  const apiEndpoints = seeds.apiEndpoints.map((seed, position) => ({ ...seed, position }));
  await dataSource.query(seedApiEndpoints, [JSON.stringify(apiEndpoints)]);
}

// Marked in one order: instances of two versions that start together must not deadlock.
const markAsSeeded = `added AS (
  INSERT INTO catalogue_seeds (id) SELECT id FROM seed ORDER BY id ON CONFLICT DO NOTHING RETURNING id
)`;

const seedScopes = `
  WITH seed AS (SELECT * FROM json_to_recordset($1) AS seed (id uuid, scope text)), ${markAsSeeded}
  INSERT INTO scopes (id, scope, required) SELECT id, scope, false FROM seed JOIN added USING (id)`;

// A new version's endpoint may name a scope that users have deleted: it comes without one rather than not at all.
const seedApiEndpoints = `
  WITH seed AS (
    SELECT * FROM json_to_recordset($1) AS seed (position int, id uuid, description text, endpoint text,
      method text, "referenceUrl" text, "tokenType" text, scope uuid)
  ), ${markAsSeeded}, known AS (
    SELECT id AS scope FROM scopes WHERE id IN (SELECT scope FROM seed) FOR KEY SHARE
  )
  INSERT INTO api_endpoints (id, description, endpoint, method, reference_url, token_type, scope)
  SELECT id, description, endpoint, method, "referenceUrl", "tokenType", known.scope
  FROM seed JOIN added USING (id) LEFT JOIN known ON known.scope = seed.scope ORDER BY position`;
