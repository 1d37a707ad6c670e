import { Controller, Delete, Get, Header, HttpCode, Patch, Post, Put, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { recordBytes, StoresData } from '../access/stores-data.decorator.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Accepts, Answers, badBody, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { WholeList } from '../paging/whole-list.js';
import { CurrentActor, type Actor } from '../access/caller.js';
import type { Scope } from './scope.entity.js';
import { ScopeBody, ScopeChangesBody, ScopeRecord, toScopeRecord } from './scopes.dto.js';
import { ScopesService } from './scopes.service.js';

const missing = { not_found: 'The scope does not exist' };

@ApiTags('Scopes')
@Controller('api/v1/platform/scopes')
export class ScopesController {
  private readonly wholeList: WholeList<Scope>;

  constructor(
    private readonly scopes: ScopesService,
    private readonly audit: AuditLog,
  ) {
    this.wholeList = new WholeList(async (after) => {
      const page = await scopes.list(after);
      return { records: page.scopes.map(toScopeRecord), next: page.next };
    });
  }

  @Get()
  @AllowAccess('reference:read')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    operationId: 'listScopes',
    summary: 'List all scopes',
    description: 'Sorted by `scope`. New installations come with the platform’s scopes.',
  })
  @Answers(200, 'The scopes', { type: ScopeRecord, isArray: true })
  async list(@Req() request: FastifyRequest): Promise<Buffer> {
    return this.wholeList.read(request.id);
  }

  @Post()
  @AllowAccess('reference:write')
  @StoresData(recordBytes)
  @ApiOperation({
    operationId: 'createScope',
    summary: 'Add a scope',
    description: 'Duplicates are allowed.',
  })
  @Accepts(ScopeBody)
  @Answers(201, 'The scope', { type: ScopeRecord, location: true })
  @RefusesWith({ ...badBody, conflict: 'There are 10,000 scopes, the maximum' })
  async create(
    @JsonBody(ScopeBody) { scope, required = false }: ScopeBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ScopeRecord> {
    const created = await this.scopes.create({ scope, required });
    reply.header('Location', `/api/v1/platform/scopes/${created.id}`);
    return toScopeRecord(created);
  }

  @Get(':id')
  @AllowAccess('reference:read')
  @ApiOperation({ operationId: 'getScope', summary: 'Get a scope' })
  @DescribesId('The id of the scope')
  @Answers(200, 'The scope', { type: ScopeRecord })
  @RefusesWith(missing)
  async show(@Id() id: string): Promise<ScopeRecord> {
    return toScopeRecord(await this.scopes.get(id));
  }

  @Put(':id')
  @AllowAccess('reference:write')
  @StoresData()
  @ApiOperation({
    operationId: 'replaceScope',
    summary: 'Replace a scope',
    description: '`required` becomes false if you leave it out.',
  })
  @DescribesId('The id of the scope')
  @Accepts(ScopeBody)
  @Answers(200, 'The replaced scope', { type: ScopeRecord })
  @RefusesWith({ ...badBody, ...missing })
  async replace(
    @Id() id: string,
    @JsonBody(ScopeBody) { scope, required = false }: ScopeBody,
  ): Promise<ScopeRecord> {
    return toScopeRecord(await this.scopes.update(id, { scope, required }));
  }

  @Patch(':id')
  @AllowAccess('reference:write')
  @StoresData()
  @ApiOperation({
    operationId: 'updateScope',
    summary: 'Update a scope',
    description: 'Fields that you leave out keep their values.',
  })
  @DescribesId('The id of the scope')
  @Accepts(ScopeChangesBody)
  @Answers(200, 'The updated scope', { type: ScopeRecord })
  @RefusesWith({ ...badBody, ...missing })
  async update(@Id() id: string, @JsonBody(ScopeChangesBody) body: ScopeChangesBody): Promise<ScopeRecord> {
    return toScopeRecord(await this.scopes.update(id, body));
  }

  @Delete(':id')
  @AllowAccess('reference:write')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteScope',
    summary: 'Delete a scope',
    description: 'Deletes it permanently. Upgrades do not bring it back.',
  })
  @DescribesId('The id of the scope')
  @Answers(204, 'Deleted')
  @RefusesWith({ ...missing, conflict: 'API endpoints use the scope' })
  async delete(@Id() id: string, @CurrentActor() by: Actor): Promise<void> {
    await this.scopes.delete(id);
    this.audit.record({ action: 'scope.deleted', by, objectId: id });
  }
}
