import { Controller } from '@nestjs/common';
import {
  createApiEndpoint,
  deleteApiEndpoint,
  getApiEndpoint,
  listApiEndpoints,
  updateApiEndpoint,
  type ApiEndpointMessage,
  type CatalogueItemRequest,
  type CreateApiEndpointRequest,
  type DeletedReply,
  type ListApiEndpointsReply,
  type ListCatalogueRequest,
  type UpdateApiEndpointRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { ApiEndpointsService } from './api-endpoints.service.js';

@Controller()
export class ApiEndpointsController {
  constructor(private readonly apiEndpoints: ApiEndpointsService) {}

  @Handles(listApiEndpoints)
  async list(request: ListCatalogueRequest): Promise<ListApiEndpointsReply> {
    return this.apiEndpoints.list(request);
  }

  @Handles(createApiEndpoint)
  async create(request: CreateApiEndpointRequest): Promise<ApiEndpointMessage> {
    return this.apiEndpoints.create(request);
  }

  @Handles(getApiEndpoint)
  async get({ id }: CatalogueItemRequest): Promise<ApiEndpointMessage> {
    return this.apiEndpoints.get(id);
  }

  @Handles(updateApiEndpoint)
  async update(request: UpdateApiEndpointRequest): Promise<ApiEndpointMessage> {
    return this.apiEndpoints.update(request);
  }

  @Handles(deleteApiEndpoint)
  async delete({ id }: CatalogueItemRequest): Promise<DeletedReply> {
    await this.apiEndpoints.delete(id);
    return { id };
  }
}
