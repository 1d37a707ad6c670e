import { applyDecorators, Controller, Delete, Get, Patch, Post, Put, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import {
  callMethods,
  callPlatform,
  maxCallReplyBytes,
  readJsonObject,
  ServiceError,
  type CallMethod,
  type CallPlatformReply,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { findApiEndpoint, isAdministrative, isSensitive, type ApiEndpoint } from '@stream-events/platforms';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseWithoutRights } from '../access/access-control.service.js';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentActor, CurrentUser, type Actor, type Caller } from '../access/caller.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { AcceptsAnyObject, RefusesWith } from '../http/api-decorators.js';
import { pathOf } from '../http/paths.js';
import { readCallQuery } from './call-query.js';

type Request = FastifyRequest<{ Body: Buffer | undefined }>;

const basePath = '/api/v1/platform/call/';

// Calls to this endpoint are not in the audit log: a bot's many chat messages would hide all other entries.
const unrecorded = 'chat/messages';

@ApiTags('Platform')
@Controller(basePath)
export class PlatformCallsController {
  constructor(
    private readonly client: RequestClient,
    private readonly audit: AuditLog,
  ) {}

  @Get('*')
  @AllowAccess('platform:call')
  @DescribesCall('getFromPlatform', 'Call the platform’s API with GET')
  get(
    @Req() request: Request,
    @Res() reply: FastifyReply,
    @CurrentUser() caller: Caller,
    @CurrentActor() by: Actor,
  ): Promise<void> {
    return this.pass(request, reply, { caller, by });
  }

  @Post('*')
  @AllowAccess('caller')
  @DescribesCall('postToPlatform', 'Call the platform’s API with POST')
  @DescribesCallBody()
  post(
    @Req() request: Request,
    @Res() reply: FastifyReply,
    @CurrentUser() caller: Caller,
    @CurrentActor() by: Actor,
  ): Promise<void> {
    return this.pass(request, reply, { caller, by });
  }

  @Put('*')
  @AllowAccess('caller')
  @DescribesCall('putToPlatform', 'Call the platform’s API with PUT')
  @DescribesCallBody()
  put(
    @Req() request: Request,
    @Res() reply: FastifyReply,
    @CurrentUser() caller: Caller,
    @CurrentActor() by: Actor,
  ): Promise<void> {
    return this.pass(request, reply, { caller, by });
  }

  @Patch('*')
  @AllowAccess('caller')
  @DescribesCall('patchOnPlatform', 'Call the platform’s API with PATCH')
  @DescribesCallBody()
  patch(
    @Req() request: Request,
    @Res() reply: FastifyReply,
    @CurrentUser() caller: Caller,
    @CurrentActor() by: Actor,
  ): Promise<void> {
    return this.pass(request, reply, { caller, by });
  }

  @Delete('*')
  @AllowAccess('caller')
  @DescribesCall('deleteOnPlatform', 'Call the platform’s API with DELETE')
  delete(
    @Req() request: Request,
    @Res() reply: FastifyReply,
    @CurrentUser() caller: Caller,
    @CurrentActor() by: Actor,
  ): Promise<void> {
    return this.pass(request, reply, { caller, by });
  }

  private async pass(
    request: Request,
    reply: FastifyReply,
    { caller, by }: { caller: Caller; by: Actor },
  ): Promise<void> {
    const { method, endpoint } = findEndpoint(request);
    if (isAdministrative(endpoint)) refuseWithoutRights('owner', caller);
    else if (isSensitive(endpoint)) refuseWithoutRights('caller', caller);
    const { body: bytes } = request;
    const call = {
      method,
      path: endpoint.endpoint,
      ...readCallQuery(request.url),
      body: bytes && bytes.length > 0 ? readJsonObject(bytes).text : null,
    };
    const isRecorded = method !== 'GET' && endpoint.endpoint !== unrecorded;
    const objectId = `${method} ${endpoint.endpoint}`;
    const { status, headers, body } = await this.audit.recordReply(
      this.client.request(callPlatform, call, { correlationId: request.id }),
      (reply) =>
        isRecorded && !isRejected(reply) ? { action: 'platform_call.sent', by, objectId } : undefined,
    );
    // Forbid caching, because replies can contain secrets of the channel.
    void reply.code(status).headers({ ...headers, 'cache-control': 'no-store' });
    await reply.send(body === '' ? undefined : Buffer.from(body, 'base64'));
  }
}

/** Whether the platform did not carry out the call. After a status of 500 or above, it may have. */
function isRejected(reply: CallPlatformReply | undefined): boolean {
  return reply !== undefined && reply.status >= 300 && reply.status < 500;
}

/** @throws ServiceError `not_found`, `method_not_allowed` */
function findEndpoint(request: Request): { method: CallMethod; endpoint: ApiEndpoint } {
  const asked = request.method === 'HEAD' ? 'GET' : request.method;
  const method = callMethods.find((each) => each === asked) ?? 'GET'; // Only these methods are routed.
  const path = pathOf(request.url).slice(basePath.length);
  const found = findApiEndpoint(method, path);
  if (found.kind === 'found') return { method, endpoint: found.endpoint };
  if (found.kind === 'unknown')
    throw new ServiceError(
      'not_found',
      'The platform’s API has no such endpoint. docs/platform-calls.md links to the list of endpoints that the service knows.',
    );
  const allow = found.methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])).sort();
  throw new ServiceError(
    'method_not_allowed',
    `This endpoint does not support ${request.method}. It supports ${allow.join(', ')}.`,
    { allow },
  );
}

function DescribesCall(operationId: string, summary: string): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId,
      summary,
      description:
        'Calls an endpoint of the platform’s API with a token that the service holds. Passes on your query and body, and returns the ' +
        'platform’s reply: status, content type, body, and rate limit headers. Errors of this service are problem documents; errors ' +
        'of the platform are returned unchanged. The service does not retry a failed call. `GET` needs a user, or a named token ' +
        'with `platform:call`. Other methods, and `GET` of a stream key, need an owner, or an owner’s named token with `platform:call`. ' +
        'Deleting a conduit needs an owner.',
    }),
    ApiParam({
      name: 'path',
      description: 'The path of the endpoint, relative to the API’s base URL. The path can contain slashes',
      example: 'chat/messages',
    }),
    ApiQuery({
      name: 'connection',
      required: false,
      type: String,
      description:
        'The id of the connection whose user makes the call. Default: the user who acts in the call (`sender_id`, ' +
        '`moderator_id`, `broadcaster_id`, …), or the application. The service passes all other parameters to the platform',
    }),
    ApiResponse({
      status: 'default',
      description: `The platform’s reply, at most ${maxCallReplyBytes / 1024} KiB`,
      content: { 'application/json': { schema: {} } },
    }),
    RefusesWith({
      invalid: 'The service cannot decide whose token to use for the call, or the body is invalid',
      forbidden:
        'The token lacks rights, the user has not granted the scope, or clients cannot call this endpoint',
      not_found: 'The service does not know the path',
      method_not_allowed: 'The endpoint does not support the method',
      conflict: 'The connection is not connected, or no longer has a valid token',
      too_large: 'The body is larger than 256 KiB',
      unsupported_media_type: 'The content type is not application/json',
      unavailable: 'The platform is unavailable, its rate limit is used up, or no platform is configured',
    }),
  );
}

function DescribesCallBody(): MethodDecorator {
  return AcceptsAnyObject('The body of the call', {
    broadcaster_id: '47019283',
    sender_id: '47019283',
    message: 'Hello, chat!',
  });
}
