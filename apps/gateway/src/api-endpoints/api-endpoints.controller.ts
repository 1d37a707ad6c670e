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
import {
  ApiEndpointBody,
  ApiEndpointChangesBody,
  ApiEndpointRecord,
  toApiEndpointRecord,
} from './api-endpoints.dto.js';
import { ApiEndpointsService, type ApiEndpointFields } from './api-endpoints.service.js';

const badFields = {
  ...badBody,
  invalid: `${badBody.invalid}, or \`scope\` is not the id of an existing scope`,
};
const missing = { not_found: 'The API endpoint does not exist' };

@ApiTags('API endpoints')
@Controller('api/v1/platform/api-endpoints')
export class ApiEndpointsController {
  private readonly wholeList: WholeList;

  constructor(
    private readonly apiEndpoints: ApiEndpointsService,
    private readonly audit: AuditLog,
  ) {
    this.wholeList = new WholeList(async (after) => {
      const page = await apiEndpoints.list(after);
      return { records: page.apiEndpoints.map(toApiEndpointRecord), next: page.next };
    });
  }

  @Get()
  @AllowAccess('reference:read')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    operationId: 'listApiEndpoints',
    summary: 'List all API endpoints',
    description: 'Sorted by creation time. New installations come with the platform’s definitions.',
  })
  @Answers(200, 'The API endpoints', { type: ApiEndpointRecord, isArray: true })
  async list(@Req() request: FastifyRequest): Promise<Buffer> {
    return this.wholeList.read(request.id);
  }

  @Post()
  @AllowAccess('reference:write')
  @StoresData(recordBytes)
  @ApiOperation({
    operationId: 'createApiEndpoint',
    summary: 'Add an API endpoint',
    description: 'Duplicates are allowed.',
  })
  @Accepts(ApiEndpointBody)
  @Answers(201, 'The API endpoint', { type: ApiEndpointRecord, location: true })
  @RefusesWith({ ...badFields, conflict: 'There are 10,000 API endpoints, the maximum' })
  async create(
    @JsonBody(ApiEndpointBody) body: ApiEndpointBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApiEndpointRecord> {
    const created = await this.apiEndpoints.create(toFields(body));
    reply.header('Location', `/api/v1/platform/api-endpoints/${created.id}`);
    return toApiEndpointRecord(created);
  }

  @Get(':id')
  @AllowAccess('reference:read')
  @ApiOperation({ operationId: 'getApiEndpoint', summary: 'Get an API endpoint' })
  @DescribesId('The id of the API endpoint')
  @Answers(200, 'The API endpoint', { type: ApiEndpointRecord })
  @RefusesWith(missing)
  async show(@Id() id: string): Promise<ApiEndpointRecord> {
    return toApiEndpointRecord(await this.apiEndpoints.get(id));
  }

  @Put(':id')
  @AllowAccess('reference:write')
  @StoresData()
  @ApiOperation({
    operationId: 'replaceApiEndpoint',
    summary: 'Replace an API endpoint',
    description: '`scope` becomes null if you leave it out.',
  })
  @DescribesId('The id of the API endpoint')
  @Accepts(ApiEndpointBody)
  @Answers(200, 'The replaced API endpoint', { type: ApiEndpointRecord })
  @RefusesWith({ ...badFields, ...missing })
  async replace(
    @Id() id: string,
    @JsonBody(ApiEndpointBody) body: ApiEndpointBody,
  ): Promise<ApiEndpointRecord> {
    return toApiEndpointRecord(await this.apiEndpoints.update(id, toFields(body)));
  }

  @Patch(':id')
  @AllowAccess('reference:write')
  @StoresData()
  @ApiOperation({
    operationId: 'updateApiEndpoint',
    summary: 'Update an API endpoint',
    description: 'Fields that you leave out keep their values.',
  })
  @DescribesId('The id of the API endpoint')
  @Accepts(ApiEndpointChangesBody)
  @Answers(200, 'The updated API endpoint', { type: ApiEndpointRecord })
  @RefusesWith({ ...badFields, ...missing })
  async update(
    @Id() id: string,
    @JsonBody(ApiEndpointChangesBody) body: ApiEndpointChangesBody,
  ): Promise<ApiEndpointRecord> {
    const { reference_url, token_type, ...others } = body;
    const changes = {
      ...others,
      ...(reference_url !== undefined && { referenceUrl: reference_url }),
      ...(token_type !== undefined && { tokenType: token_type }),
    };
    return toApiEndpointRecord(await this.apiEndpoints.update(id, changes));
  }

  @Delete(':id')
  @AllowAccess('reference:write')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteApiEndpoint',
    summary: 'Delete an API endpoint',
    description: 'Deletes it permanently. Upgrades do not bring it back.',
  })
  @DescribesId('The id of the API endpoint')
  @Answers(204, 'Deleted')
  @RefusesWith(missing)
  async delete(@Id() id: string, @CurrentActor() by: Actor): Promise<void> {
    await this.apiEndpoints.delete(id);
    this.audit.record({ action: 'api_endpoint.deleted', by, objectId: id });
  }
}

function toFields({
  reference_url,
  token_type,
  scope = null,
  ...others
}: ApiEndpointBody): ApiEndpointFields {
  return { ...others, referenceUrl: reference_url, tokenType: token_type, scope };
}
