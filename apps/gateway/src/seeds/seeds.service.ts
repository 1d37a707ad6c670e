import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { platformSeeds, type PlatformSeeds } from './platform-seeds.js';

/** Fills the scopes and API endpoints with the platform's definitions. */
@Injectable()
export class Seeds {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Adds every seed that was never added before: all seeds on the first start, and the new seeds on the first start of a later
   * version. Rows that users deleted stay deleted, and rows that users changed stay as they are.
   *
   * Idempotent by the ids in `applied_seeds`. When several instances start together, one instance adds a row, and the
   * other instances wait for its commit.
   */
  async apply(seeds: PlatformSeeds = platformSeeds): Promise<void> {
    await this.dataSource.query(addScopes, [JSON.stringify(seeds.scopes)]);
    // The list of API endpoints is sorted by creation, so create them in the order of the seeds.
    const apiEndpoints = seeds.apiEndpoints.map((seed, position) => ({ ...seed, position }));
    await this.dataSource.query(addApiEndpoints, [JSON.stringify(apiEndpoints)]);
  }
}

// Inserts in the order of the ids. Otherwise, two instances of different versions that start together could deadlock.
const markAsApplied = `added AS (
  INSERT INTO applied_seeds (id) SELECT id FROM seed ORDER BY id ON CONFLICT DO NOTHING RETURNING id
)`;

const addScopes = `
  WITH seed AS (SELECT * FROM json_to_recordset($1) AS seed (id uuid, scope text)), ${markAsApplied}
  INSERT INTO scopes (id, scope, required) SELECT id, scope, false FROM seed JOIN added USING (id)`;

// If users deleted the scope of a new API endpoint, add the endpoint without a scope.
const addApiEndpoints = `
  WITH seed AS (
    SELECT * FROM json_to_recordset($1) AS seed (position int, id uuid, description text, endpoint text,
      method text, "referenceUrl" text, "tokenType" text, scope uuid)
  ), ${markAsApplied}, known AS (
    SELECT id AS scope FROM scopes WHERE id IN (SELECT scope FROM seed) FOR KEY SHARE
  )
  INSERT INTO api_endpoints (id, description, endpoint, method, reference_url, token_type, scope)
  SELECT id, description, endpoint, method, "referenceUrl", "tokenType", known.scope
  FROM seed JOIN added USING (id) LEFT JOIN known ON known.scope = seed.scope ORDER BY position`;
