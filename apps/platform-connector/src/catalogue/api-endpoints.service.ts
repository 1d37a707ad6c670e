import { Injectable } from '@nestjs/common';
import {
  ServiceError,
  type ApiEndpointMessage,
  type CreateApiEndpointRequest,
  type ListApiEndpointsReply,
  type ListCatalogueRequest,
  type UpdateApiEndpointRequest,
} from '@stream-events/contracts';
import { violatedConstraint } from '@stream-events/database';
import { DataSource, MoreThan } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { ApiEndpoint } from './api-endpoint.entity.js';

// With 781 control characters each, which JSON writes with six, they fit in a NATS message.
const maxPage = 200;

/** The definitions of the platform's API endpoints, as users keep their list. */
@Injectable()
export class ApiEndpointsService {
  constructor(private readonly dataSource: DataSource) {}

  /** One page, in the order of creation. One that is created meanwhile may be missing: it is in the next reading of the list. */
  async list({ after = '0' }: ListCatalogueRequest): Promise<ListApiEndpointsReply> {
    if (!/^\d{1,18}$/.test(after)) throw ServiceError.onField('after', 'is not from a page of this list');
    const rows = await this.dataSource.manager.find(ApiEndpoint, {
      where: { number: MoreThan(after) },
      order: { number: 'ASC' },
      take: maxPage + 1,
    });
    const page = rows.slice(0, maxPage);
    const last = rows.length > maxPage ? page.at(-1) : undefined;
    return { apiEndpoints: page.map(toMessage), next: last?.number ?? null };
  }

  /** @throws ServiceError `invalid` on `scope` when there is no such scope */
  async create(request: CreateApiEndpointRequest): Promise<ApiEndpointMessage> {
    const id = uuidV7();
    await this.dataSource.manager.insert(ApiEndpoint, { ...request, id }).catch(refuseUnknownScope);
    return this.get(id);
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<ApiEndpointMessage> {
    const endpoint = await this.dataSource.manager.findOneBy(ApiEndpoint, { id });
    if (!endpoint) throw missing(id);
    return toMessage(endpoint);
  }

  /** @throws ServiceError `not_found`; `invalid` on `scope` when there is no such scope */
  async update({ id, ...changes }: UpdateApiEndpointRequest): Promise<ApiEndpointMessage> {
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
  throw ServiceError.onField('scope', 'must be the id of a scope, or null: there is no such scope');
}

function toMessage({ number: _, ...endpoint }: ApiEndpoint): ApiEndpointMessage {
  return endpoint;
}

function missing(id: string): ServiceError {
  return new ServiceError('not_found', `There is no API endpoint ${id}.`);
}
