import { Controller } from '@nestjs/common';
import {
  createScope,
  deleteScope,
  getScope,
  listScopes,
  updateScope,
  type CatalogueItemRequest,
  type CreateScopeRequest,
  type DeletedReply,
  type ListCatalogueRequest,
  type ListScopesReply,
  type ScopeMessage,
  type UpdateScopeRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { ScopesService } from './scopes.service.js';

@Controller()
export class ScopesController {
  constructor(private readonly scopes: ScopesService) {}

  @Handles(listScopes)
  async list(request: ListCatalogueRequest): Promise<ListScopesReply> {
    return this.scopes.list(request);
  }

  @Handles(createScope)
  async create(request: CreateScopeRequest): Promise<ScopeMessage> {
    return this.scopes.create(request);
  }

  @Handles(getScope)
  async get({ id }: CatalogueItemRequest): Promise<ScopeMessage> {
    return this.scopes.get(id);
  }

  @Handles(updateScope)
  async update(request: UpdateScopeRequest): Promise<ScopeMessage> {
    return this.scopes.update(request);
  }

  @Handles(deleteScope)
  async delete({ id }: CatalogueItemRequest): Promise<DeletedReply> {
    await this.scopes.delete(id);
    return { id };
  }
}
