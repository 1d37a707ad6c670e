import { Controller, Delete, Get, Header, HttpCode, Patch, Post, Put, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  Accepts,
  Answers,
  badBody,
  DescribesId,
  RefusesWith,
  RequiresToken,
} from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { WholeList } from '../paging/whole-list.js';
import {
  ApiEndpointBody,
  ApiEndpointChangesBody,
  ApiEndpointRecord,
  toApiEndpointRecord,
} from './api-endpoints.dto.js';
import { ApiEndpointsService, type ApiEndpointFields } from './api-endpoints.service.js';

const badFields = { ...badBody, invalid: `${badBody.invalid}, or there is no such scope (on scope)` };
const missing = { not_found: 'There is no such API endpoint' };

@ApiTags('API endpoints')
@Controller('api/v1/platform/api-endpoints')
export class ApiEndpointsController {
  private readonly wholeList: WholeList;

  constructor(private readonly apiEndpoints: ApiEndpointsService) {
    this.wholeList = new WholeList(async (after) => {
      const page = await apiEndpoints.list(after);
      return { records: page.apiEndpoints.map(toApiEndpointRecord), next: page.next };
    });
  }

  @Get()
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    summary: 'List all API endpoints',
    description: 'In the order of their creation. A new installation has those of the platform.',
  })
  @Answers(200, 'The API endpoints', { type: ApiEndpointRecord, isArray: true })
  @RequiresToken()
  async list(@Req() request: FastifyRequest): Promise<Buffer> {
    return this.wholeList.read(request.id);
  }

  @Post()
  @ApiOperation({ summary: 'Add an API endpoint', description: 'Duplicates are permitted.' })
  @Accepts(ApiEndpointBody)
  @Answers(201, 'The API endpoint', { type: ApiEndpointRecord, location: true })
  @RequiresToken()
  @RefusesWith(badFields)
  async create(
    @JsonBody(ApiEndpointBody) body: ApiEndpointBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApiEndpointRecord> {
    const created = await this.apiEndpoints.create(toFields(body));
    reply.header('Location', `/api/v1/platform/api-endpoints/${created.id}`);
    return toApiEndpointRecord(created);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Show an API endpoint', description: 'One of the list.' })
  @DescribesId('The API endpoint’s id')
  @Answers(200, 'The API endpoint', { type: ApiEndpointRecord })
  @RequiresToken()
  @RefusesWith(missing)
  async show(@Id() id: string): Promise<ApiEndpointRecord> {
    return toApiEndpointRecord(await this.apiEndpoints.get(id));
  }

  @Put(':id')
  @ApiOperation({
    summary: 'Replace an API endpoint',
    description: '`scope` becomes null when it is left out.',
  })
  @DescribesId('The API endpoint’s id')
  @Accepts(ApiEndpointBody)
  @Answers(200, 'The API endpoint as replaced', { type: ApiEndpointRecord })
  @RequiresToken()
  @RefusesWith({ ...badFields, ...missing })
  async replace(
    @Id() id: string,
    @JsonBody(ApiEndpointBody) body: ApiEndpointBody,
  ): Promise<ApiEndpointRecord> {
    return toApiEndpointRecord(await this.apiEndpoints.update(id, toFields(body)));
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Change an API endpoint',
    description: 'Fields that are left out stay as they are.',
  })
  @DescribesId('The API endpoint’s id')
  @Accepts(ApiEndpointChangesBody)
  @Answers(200, 'The API endpoint as changed', { type: ApiEndpointRecord })
  @RequiresToken()
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
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete an API endpoint',
    description: 'For good: it does not come back with a new version.',
  })
  @DescribesId('The API endpoint’s id')
  @Answers(204, 'Deleted')
  @RequiresToken()
  @RefusesWith(missing)
  async delete(@Id() id: string): Promise<void> {
    await this.apiEndpoints.delete(id);
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
