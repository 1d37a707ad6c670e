import { isDeepStrictEqual } from 'node:util';
import { Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyReply } from 'fastify';
import { validate as isUuid } from 'uuid';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentActor, CurrentUser, type Actor, type Caller } from '../access/caller.js';
import { recordBytes, StoresData } from '../access/stores-data.decorator.js';
import { tokenScopes } from '../access/token-scopes.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Accepts, Answers, badBody, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import {
  IssuedTokenRecord,
  toIssuedTokenRecord,
  TokenBody,
  TokenChangesBody,
  TokenRecord,
  toTokenChanges,
  toTokenRecord,
} from './tokens.dto.js';
import { maxNamedTokens, Tokens, type Token } from './tokens.service.js';

const missing = {
  not_found: 'The token does not exist, or belongs to another user and you are not an owner',
};

const scopeList = Object.entries(tokenScopes)
  .map(([scope, description]) => `- \`${scope}\`: ${description}`)
  .join('\n');

@ApiTags('Tokens')
@AllowAccess('account')
@Controller('api/v1/tokens')
export class TokensController {
  constructor(
    private readonly tokens: Tokens,
    private readonly audit: AuditLog,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listTokens',
    summary: 'List tokens',
    description:
      'Lists your main token, then your sessions and named tokens, newest first. The response never contains keys.',
  })
  @ApiQuery({
    name: 'user',
    required: false,
    description: 'Id of the user whose tokens to list. Default: you. Owners can list the tokens of any user',
    schema: { type: 'string', format: 'uuid' },
  })
  @Answers(200, 'The tokens', { type: TokenRecord, isArray: true })
  @RefusesWith({
    invalid: '`user` is not a UUID',
    forbidden: '`user` is another user, and you are not an owner',
  })
  async list(
    @CurrentUser() caller: Caller,
    @Query('user') userId: string | undefined,
  ): Promise<TokenRecord[]> {
    const tokens = await this.tokens.list(this.chooseUser(caller, userId));
    return tokens.map(toTokenRecord);
  }

  @Post()
  @StoresData(recordBytes)
  @ApiOperation({
    operationId: 'createToken',
    summary: 'Create a named token',
    description:
      'A named token has only the rights of its scopes, and you can revoke it separately. Give each application its own token. Only ' +
      `this response contains the key. With \`event_types\` or \`channel_ids\`, the token sees only matching events.\n\nScopes:\n\n${scopeList}`,
  })
  @Accepts(TokenBody)
  @Answers(201, 'The token with its key', { type: IssuedTokenRecord, location: true })
  @RefusesWith({ ...badBody, conflict: `You have ${maxNamedTokens} named tokens, the maximum` })
  async create(
    @CurrentUser() caller: Caller,
    @JsonBody(TokenBody) body: TokenBody,
    @CurrentActor() by: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedTokenRecord> {
    const fields = {
      eventTypes: null,
      channelIds: null,
      expiresAt: null,
      ...toTokenChanges(body),
      name: body.name,
      scopes: body.scopes,
    };
    const issued = await this.tokens.create(caller.id, fields);
    this.audit.record({ action: 'token.created', by, objectId: issued.token.id });
    reply.header('Location', `/api/v1/tokens/${issued.token.id}`);
    return toIssuedTokenRecord(issued);
  }

  @Get(':id')
  @ApiOperation({
    operationId: 'getToken',
    summary: 'Get a token',
    description: 'The response never contains the key.',
  })
  @DescribesId('The id of the token')
  @Answers(200, 'The token', { type: TokenRecord })
  @RefusesWith(missing)
  async show(@Id() id: string, @CurrentUser() caller: Caller): Promise<TokenRecord> {
    return toTokenRecord(await this.find(id, caller));
  }

  @Patch(':id')
  @ApiOperation({
    operationId: 'updateToken',
    summary: 'Update a named token',
    description:
      'Fields that you leave out keep their values. New scopes and limits apply within a second: every gateway then closes the live ' +
      'connections of the token. The key stays the same.',
  })
  @DescribesId('The id of the token')
  @Accepts(TokenChangesBody)
  @Answers(200, 'The updated token', { type: TokenRecord })
  @RefusesWith({ ...badBody, ...missing, conflict: 'The token is a main token or a session' })
  async update(
    @Id() id: string,
    @CurrentUser() caller: Caller,
    @JsonBody(TokenChangesBody) body: TokenChangesBody,
    @CurrentActor() by: Actor,
  ): Promise<TokenRecord> {
    const token = await this.find(id, caller);
    if (!token.rights)
      throw new ServiceError(
        'conflict',
        'Only a named token can be updated. A main token can be rotated or revoked.',
      );
    const changed = await this.tokens.change(token.id, toTokenChanges(body));
    if (!hasSameFields(token, changed)) this.audit.record({ action: 'token.updated', by, objectId: id });
    return toTokenRecord(changed);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    description:
      'Every gateway rejects the token within a second, and closes the token’s live connections. After you revoke your main token, ' +
      'use `POST /api-token-auth` to get a new main token.',
  })
  @DescribesId('The id of the token')
  @Answers(204, 'Revoked')
  @RefusesWith(missing)
  async revoke(@Id() id: string, @CurrentUser() caller: Caller, @CurrentActor() by: Actor): Promise<void> {
    const token = await this.find(id, caller);
    await this.tokens.revoke(token.id);
    this.audit.record({ action: 'token.revoked', by, objectId: token.id });
  }

  private chooseUser(caller: Caller, userId = ''): string {
    if (userId === '' || userId.toLowerCase() === caller.id) return caller.id;
    if (caller.role !== 'owner')
      throw new ServiceError('forbidden', 'Only owners can list the tokens of other users.');
    if (!isUuid(userId)) throw ServiceError.onField('user', 'must be the id of a user');
    return userId;
  }

  /** Owners can access every token, other users only their own. */
  private find(id: string, caller: Caller): Promise<Token> {
    return this.tokens.get(id, caller.role === 'owner' ? undefined : caller.id);
  }
}

/** Whether the fields that a user can change are equal. */
function hasSameFields(one: Token, other: Token): boolean {
  const fieldsOf = ({ name, rights, expiresAt }: Token) => ({ name, rights, expiresAt });
  return isDeepStrictEqual(fieldsOf(one), fieldsOf(other));
}
