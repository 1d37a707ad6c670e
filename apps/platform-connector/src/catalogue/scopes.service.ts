import { Injectable } from '@nestjs/common';
import {
  ServiceError,
  type CreateScopeRequest,
  type ListCatalogueRequest,
  type ListScopesReply,
  type ScopeMessage,
  type UpdateScopeRequest,
} from '@stream-events/contracts';
import { violatedConstraint } from '@stream-events/database';
import { DataSource } from 'typeorm';
import { v7 as uuidV7, validate as isUuid } from 'uuid';
import { Scope } from './scope.entity.js';

// With 255 control characters each, which JSON writes with six, they fit in a NATS message.
const maxPage = 500;

const idLength = 36;

/** The platform's permissions, as users keep their list. */
@Injectable()
export class ScopesService {
  constructor(private readonly dataSource: DataSource) {}

  /** One page, by scope and id. */
  async list({ after }: ListCatalogueRequest): Promise<ListScopesReply> {
    const query = this.dataSource.manager
      .createQueryBuilder(Scope, 'row')
      .orderBy('row.scope')
      .addOrderBy('row.id')
      .limit(maxPage + 1);
    if (after !== undefined) query.where('(row.scope, row.id) > (:scope, :id)', parsePosition(after));
    const rows = await query.getMany();
    const scopes = rows.slice(0, maxPage).map(toMessage);
    const last = rows.length > maxPage ? scopes.at(-1) : undefined;
    return { scopes, next: last ? last.id + last.scope : null };
  }

  async create({ scope, required }: CreateScopeRequest): Promise<ScopeMessage> {
    const created = { id: uuidV7(), scope, required };
    await this.dataSource.manager.insert(Scope, { ...created });
    return created;
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<ScopeMessage> {
    const scope = await this.dataSource.manager.findOneBy(Scope, { id });
    if (!scope) throw missing(id);
    return toMessage(scope);
  }

  /** @throws ServiceError `not_found` */
  async update({ id, ...changes }: UpdateScopeRequest): Promise<ScopeMessage> {
    if (Object.keys(changes).length > 0) await this.dataSource.manager.update(Scope, { id }, changes);
    return this.get(id);
  }

  /** @throws ServiceError `not_found`; `conflict` while an API endpoint names it */
  async delete(id: string): Promise<void> {
    const { affected } = await this.dataSource.manager.delete(Scope, { id }).catch((error: unknown) => {
      if (violatedConstraint(error) !== 'api_endpoints_scope_fkey') throw error;
      throw new ServiceError(
        'conflict',
        'The scope is in use: API endpoints name it. Change or delete these first.',
      );
    });
    if (!affected) throw missing(id);
  }
}

/** Reads `next` of the page before: the id of its last scope, and its name. */
function parsePosition(after: string): { id: string; scope: string } {
  const id = after.slice(0, idLength);
  if (!isUuid(id)) throw ServiceError.onField('after', 'is not from a page of this list');
  return { id, scope: after.slice(idLength) };
}

function toMessage({ id, scope, required }: Scope): ScopeMessage {
  return { id, scope, required };
}

function missing(id: string): ServiceError {
  return new ServiceError('not_found', `There is no scope ${id}.`);
}
