import { Controller, Get, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuditLog, type Actor } from '../audit-log/audit-log.service.js';
import { AllowAccess } from '../http/allow-access.decorator.js';
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
import { CurrentActor, CurrentUser } from './access.guard.js';
import { AccessTokens, type Caller } from './access-tokens.service.js';
import {
  PasswordBody,
  ProfileBody,
  RegistrationBody,
  RegistrationReply,
  TokenReply,
  toUserReply,
  UserReply,
  UserStateBody,
} from './users.dto.js';
import { UsersService } from './users.service.js';

const notOwner = { forbidden: 'The token does not belong to an owner' };
const missing = { not_found: 'The user does not exist' };

@ApiTags('Users')
@Controller('api/v1/users')
export class UsersController {
  constructor(
    private readonly users: UsersService,
    private readonly tokens: AccessTokens,
    private readonly audit: AuditLog,
  ) {}

  @Post()
  @AllowAccess('registration')
  @ApiOperation({
    operationId: 'registerUser',
    summary: 'Register a user',
    description:
      'Owners only, unless the service runs with REGISTRATION=open: then anybody can register, without a token.',
  })
  @Accepts(RegistrationBody)
  @Answers(201, 'The new user, with an access token', { type: RegistrationReply, location: true })
  @RequiresToken()
  @RefusesWith({
    ...badBody,
    ...notOwner,
    conflict: 'The user name is taken (names are case-insensitive)',
  })
  async register(
    @JsonBody(RegistrationBody) body: RegistrationBody,
    @CurrentActor() by: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RegistrationReply> {
    const { user, token } = await this.users.register({
      username: body.username,
      password: body.password,
      role: 'user',
      firstName: body.first_name,
      lastName: body.last_name,
      email: body.email,
    });
    this.audit.record({ action: 'user.created', by, objectId: user.id });
    reply.header('Location', `/api/v1/users/${user.id}`);
    return { ...toUserReply(user), auth_token: token };
  }

  @Get()
  @AllowAccess('owner')
  @ApiOperation({ operationId: 'listUsers', summary: 'List all users', description: 'Owners only.' })
  @Answers(200, 'All users, oldest first', { type: UserReply, isArray: true })
  @RequiresToken()
  @RefusesWith(notOwner)
  async list(): Promise<UserReply[]> {
    return (await this.users.list()).map(toUserReply);
  }

  @Get('me')
  @ApiOperation({
    operationId: 'getCurrentUser',
    summary: 'Get your own user',
    description: 'Returns the user that the token of this request belongs to.',
  })
  @Answers(200, 'The user', { type: UserReply })
  @RequiresToken()
  async showMe(@CurrentUser() caller: Caller): Promise<UserReply> {
    return toUserReply(await this.users.get(caller.id));
  }

  @Patch('me')
  @ApiOperation({
    operationId: 'updateCurrentUser',
    summary: 'Update your own names and email address',
    description: 'Fields that you leave out keep their values.',
  })
  @Accepts(ProfileBody)
  @Answers(200, 'The updated user', { type: UserReply })
  @RequiresToken()
  @RefusesWith(badBody)
  async updateMe(
    @CurrentUser() caller: Caller,
    @JsonBody(ProfileBody) body: ProfileBody,
  ): Promise<UserReply> {
    const user = await this.users.updateProfile(caller.id, {
      ...(body.first_name !== undefined && { firstName: body.first_name }),
      ...(body.last_name !== undefined && { lastName: body.last_name }),
      ...(body.email !== undefined && { email: body.email }),
    });
    return toUserReply(user);
  }

  @Post('me/token')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'rotateToken',
    summary: 'Rotate your own access token',
    description: 'Every gateway rejects the old token within a second.',
  })
  @Answers(200, 'The new token', { type: TokenReply })
  @RequiresToken()
  async rotateToken(@CurrentUser() caller: Caller, @CurrentActor() by: Actor): Promise<TokenReply> {
    const token = await this.tokens.issue(caller.id);
    this.audit.record({ action: 'token.rotated', by, objectId: caller.id });
    return { token };
  }

  @Post('me/password')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'changePassword',
    summary: 'Change your own password',
    description: 'Ends all other sessions: the old token becomes invalid, and the response has a new one.',
  })
  @Accepts(PasswordBody)
  @Answers(200, 'The new token', { type: TokenReply })
  @RequiresToken()
  @RefusesWith({ ...badBody, too_many_requests: 'Too many wrong passwords from this address' })
  async changePassword(
    @CurrentUser() caller: Caller,
    @JsonBody(PasswordBody) body: PasswordBody,
    @CurrentActor() by: Actor,
    @Req() request: FastifyRequest,
  ): Promise<TokenReply> {
    const change = { current: body.current_password, next: body.new_password, address: request.ip };
    const token = await this.users.changePassword(caller.id, change);
    this.audit.record({ action: 'user.password_changed', by, objectId: caller.id });
    return { token };
  }

  @Get(':id')
  @AllowAccess('owner')
  @ApiOperation({ operationId: 'getUser', summary: 'Get a user', description: 'Owners only.' })
  @DescribesId('The id of the user')
  @Answers(200, 'The user', { type: UserReply })
  @RequiresToken()
  @RefusesWith({ ...notOwner, ...missing })
  async show(@Id() id: string): Promise<UserReply> {
    return toUserReply(await this.users.get(id));
  }

  @Patch(':id')
  @AllowAccess('owner')
  @ApiOperation({
    operationId: 'updateUser',
    summary: 'Disable or enable a user',
    description: 'Owners only. Every gateway rejects the token of a disabled user within a second.',
  })
  @DescribesId('The id of the user')
  @Accepts(UserStateBody)
  @Answers(200, 'The updated user', { type: UserReply })
  @RequiresToken()
  @RefusesWith({
    ...badBody,
    ...notOwner,
    ...missing,
    conflict: 'You cannot disable yourself',
  })
  async setState(
    @Id() id: string,
    @JsonBody(UserStateBody) body: UserStateBody,
    @CurrentUser() caller: Caller,
    @CurrentActor() by: Actor,
  ): Promise<UserReply> {
    const user = await this.users.setDisabled(id, body.disabled, caller.id);
    this.audit.record({ action: body.disabled ? 'user.disabled' : 'user.enabled', by, objectId: id });
    return toUserReply(user);
  }
}
