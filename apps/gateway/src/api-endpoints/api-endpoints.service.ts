import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { violatedConstraint } from '@stream-events/database';
import { DataSource, MoreThan } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { refuseFullList } from '../paging/refuse-full-list.js';
import { ApiEndpoint } from './api-endpoint.entity.js';

// Maximum rows per page. Keeps the largest possible page under 1 MiB: 781 control characters per row, each six bytes in JSON.
const maxPage = 200;

/** The fields that users set. */
export type ApiEndpointFields = Omit<ApiEndpoint, 'id' | 'number'>;

/** One page. The next page starts after the number `next`, which is null on the last page. */
export interface ApiEndpointsPage {
  apiEndpoints: ApiEndpoint[];
  next: string | null;
}

/** Stores the definitions of the platform's API endpoints. Users can edit them. */
@Injectable()
export class ApiEndpointsService {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns one page in creation order. Can miss an endpoint that is created during the read; the next read includes it. */
  async list(after = '0'): Promise<ApiEndpointsPage> {
    const rows = await this.dataSource.manager.find(ApiEndpoint, {
      where: { number: MoreThan(after) },
      order: { number: 'ASC' },
      take: maxPage + 1,
    });
    const apiEndpoints = rows.slice(0, maxPage);
    return { apiEndpoints, next: rows.length > maxPage ? (apiEndpoints.at(-1)?.number ?? null) : null };
  }

  /** @throws ServiceError `invalid` on `scope` when the scope does not exist; `conflict` when there are too many API endpoints */
  async create(fields: ApiEndpointFields): Promise<ApiEndpoint> {
    await refuseFullList(this.dataSource.manager, ApiEndpoint, 'API endpoints');
    const id = uuidV7();
    await this.dataSource.manager.insert(ApiEndpoint, { ...fields, id }).catch(refuseUnknownScope);
    return this.get(id);
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<ApiEndpoint> {
    const endpoint = await this.dataSource.manager.findOneBy(ApiEndpoint, { id });
    if (!endpoint) throw missing(id);
    return endpoint;
  }

  /**
   * Changes the given fields. Set `scope` to null to remove it.
   *
   * @throws ServiceError `not_found`; `invalid` on `scope` when the scope does not exist
   */
  async update(id: string, changes: Partial<ApiEndpointFields>): Promise<ApiEndpoint> {
    if (Object.keys(changes).length > 0)
      await this.dataSource.manager.update(ApiEndpoint, { id }, changes).catch(refuseUnknownScope);
    return this.get(id);
  }

  /** @throws ServiceError `not_found` */
  async delete(id: string): Promise<void> {
    const { affected } = await this.dataSource.manager.delete(ApiEndpoint, { id });
    if (!affected) throw missing(id);
  }
}

function refuseUnknownScope(error: unknown): never {
  if (violatedConstraint(error) !== 'api_endpoints_scope_fkey') throw error;
  throw ServiceError.onField('scope', 'must be the id of an existing scope, or null');
}

function missing(id: string): ServiceError {
  return new ServiceError('not_found', `There is no API endpoint ${id}.`);
}
