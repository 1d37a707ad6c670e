import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { platformSeeds, type PlatformSeeds } from './platform-seeds.js';

/** Adds the platform's definitions to the scopes and API endpoints. */
@Injectable()
export class Seeds {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Adds the seeds that were never added before: on the first start all seeds, after an upgrade the new ones. Rows that users deleted or
   * changed stay as they are.
   *
   * Idempotent by the ids in `applied_seeds`. If several instances start together, one adds a row and the others wait for its commit.
   */
  async apply(seeds: PlatformSeeds = platformSeeds): Promise<void> {
    await this.dataSource.query(addScopes, [JSON.stringify(seeds.scopes)]);
    // The list of API endpoints is in creation order, so add them in the order of the seeds.
    const apiEndpoints = seeds.apiEndpoints.map((seed, position) => ({ ...seed, position }));
    await this.dataSource.query(addApiEndpoints, [JSON.stringify(apiEndpoints)]);
  }
}

// Insert in id order: instances of different versions that start together could otherwise deadlock.
const markAsApplied = `added AS (
  INSERT INTO applied_seeds (id) SELECT id FROM seed ORDER BY id ON CONFLICT DO NOTHING RETURNING id
)`;

const addScopes = `
  WITH seed AS (SELECT * FROM json_to_recordset($1) AS seed (id uuid, scope text)), ${markAsApplied}
  INSERT INTO scopes (id, scope, required) SELECT id, scope, false FROM seed JOIN added USING (id)`;

// If users have deleted the scope of a new API endpoint, add the endpoint without a scope.
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
