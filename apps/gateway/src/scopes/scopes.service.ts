import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { violatedConstraint } from '@stream-events/database';
import { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { refuseFullList } from '../paging/refuse-full-list.js';
import { Scope } from './scope.entity.js';

// Maximum rows per page. Keeps the largest possible page under 1 MiB: 255 control characters per name, each six bytes in JSON.
const maxPage = 500;

/** One page. The next page starts after the scope `next`, which is null on the last page. */
export interface ScopesPage {
  scopes: Scope[];
  next: Scope | null;
}

/** Stores the platform's permissions. Users can edit them. */
@Injectable()
export class ScopesService {
  constructor(private readonly dataSource: DataSource) {}

  /** Sorted by scope, then id. */
  async list(after?: Scope): Promise<ScopesPage> {
    const query = this.dataSource.manager
      .createQueryBuilder(Scope, 'row')
      .orderBy('row.scope')
      .addOrderBy('row.id')
      .limit(maxPage + 1);
    if (after) query.where('(row.scope, row.id) > (:scope, :id)', after);
    const rows = await query.getMany();
    const scopes = rows.slice(0, maxPage);
    return { scopes, next: rows.length > maxPage ? (scopes.at(-1) ?? null) : null };
  }

  /** @throws ServiceError `conflict` when there are too many scopes */
  async create(scope: Omit<Scope, 'id'>): Promise<Scope> {
    await refuseFullList(this.dataSource.manager, Scope, 'scopes');
    const created = { id: uuidV7(), ...scope };
    await this.dataSource.manager.insert(Scope, { ...created });
    return created;
  }

  /** @throws ServiceError `not_found` */
  async get(id: string): Promise<Scope> {
    const scope = await this.dataSource.manager.findOneBy(Scope, { id });
    if (!scope) throw missing(id);
    return scope;
  }

  /** @throws ServiceError `not_found` */
  async update(id: string, changes: Partial<Omit<Scope, 'id'>>): Promise<Scope> {
    if (Object.keys(changes).length > 0) await this.dataSource.manager.update(Scope, { id }, changes);
    return this.get(id);
  }

  /** @throws ServiceError `not_found`; `conflict` while an API endpoint uses the scope */
  async delete(id: string): Promise<void> {
    const { affected } = await this.dataSource.manager.delete(Scope, { id }).catch((error: unknown) => {
      if (violatedConstraint(error) !== 'api_endpoints_scope_fkey') throw error;
      throw new ServiceError(
        'conflict',
        `API endpoints use the scope ${id}. Change or delete these API endpoints first.`,
      );
    });
    if (!affected) throw missing(id);
  }
}

function missing(id: string): ServiceError {
  return new ServiceError('not_found', `There is no scope ${id}.`);
}
