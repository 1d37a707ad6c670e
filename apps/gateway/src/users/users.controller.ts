import { Controller, Delete, Get, HttpCode, Patch, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentActor, CurrentUser, type Actor, type Caller } from '../access/caller.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Accepts, Answers, badBody, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { CrossSiteGuard } from './cross-site.guard.js';
import {
  CurrentUserReply,
  PasswordBody,
  ProfileBody,
  RegistrationBody,
  RegistrationReply,
  RotationBody,
  TokenReply,
  toCurrentUserReply,
  toUserReply,
  UserReply,
  UserStateBody,
} from './users.dto.js';
import { UsersService } from './users.service.js';

const missing = { not_found: 'The user does not exist' };
const lastOwner = 'The user is the last enabled owner';

@ApiTags('Users')
@Controller('api/v1/users')
export class UsersController {
  constructor(
    private readonly users: UsersService,
    private readonly audit: AuditLog,
  ) {}

  @Post()
  @AllowAccess('registration')
  @UseGuards(CrossSiteGuard)
  @ApiOperation({
    operationId: 'registerUser',
    summary: 'Register a user',
    description:
      'Owners only. With REGISTRATION=open, anybody can register, without a token: up to 10 users per address (IPv6: /64 network) and ' +
      'hour. Users that an owner registers do not count.',
  })
  @Accepts(RegistrationBody)
  @Answers(201, 'The new user, with an access token', { type: RegistrationReply, location: true })
  @RefusesWith({
    ...badBody,
    conflict: 'The user name is taken (names are case-insensitive)',
    forbidden:
      'The request has no owner’s token, and comes from a web page of another site that `CORS_ORIGINS` does not name',
    too_many_requests:
      'Without a token: 10 users were registered from this address within an hour. Otherwise: too many concurrent requests with a password',
    unavailable: 'Too many logins are in progress',
  })
  async register(
    @JsonBody(RegistrationBody) body: RegistrationBody,
    @CurrentActor() by: Actor,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RegistrationReply> {
    const { user, token } = await this.users.register({
      username: body.username,
      password: body.password,
      role: 'user',
      firstName: body.first_name,
      lastName: body.last_name,
      email: body.email,
      // Registrations by an owner do not count toward the limit of the address.
      address: by.id === null ? request.ip : undefined,
    });
    this.audit.record({ action: 'user.created', by, objectId: user.id });
    reply.header('Location', `/api/v1/users/${user.id}`);
    return { ...toUserReply(user), auth_token: token };
  }

  @Get()
  @AllowAccess('owner')
  @ApiOperation({ operationId: 'listUsers', summary: 'List all users', description: 'Owners only.' })
  @Answers(200, 'All users, oldest first', { type: UserReply, isArray: true })
  async list(): Promise<UserReply[]> {
    return (await this.users.list()).map(toUserReply);
  }

  @Get('me')
  @AllowAccess('token')
  @ApiOperation({
    operationId: 'getCurrentUser',
    summary: 'Get your own user',
    description:
      'Returns the user that the token of this request belongs to. A named token gets only `id` and `username`; the other fields are null.',
  })
  @Answers(200, 'The user', { type: CurrentUserReply })
  async showMe(@CurrentUser() caller: Caller): Promise<CurrentUserReply> {
    return toCurrentUserReply(await this.users.get(caller.id), caller.token);
  }

  @Patch('me')
  @AllowAccess('account')
  @ApiOperation({
    operationId: 'updateCurrentUser',
    summary: 'Update your own names and email address',
    description: 'Fields that you leave out keep their values.',
  })
  @Accepts(ProfileBody)
  @Answers(200, 'The updated user', { type: UserReply })
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
  @AllowAccess('account')
  @ApiOperation({
    operationId: 'rotateToken',
    summary: 'Rotate your main token',
    description:
      'Every gateway rejects the old main token within a second. Sessions and named tokens stay valid.',
  })
  @Accepts(RotationBody)
  @Answers(200, 'The new main token', { type: TokenReply })
  @RefusesWith({
    ...badBody,
    too_many_requests: 'Too many wrong passwords or too many concurrent logins from this address',
  })
  async rotateToken(
    @CurrentUser() caller: Caller,
    @JsonBody(RotationBody) body: RotationBody,
    @CurrentActor() by: Actor,
    @Req() request: FastifyRequest,
  ): Promise<TokenReply> {
    const token = await this.users.rotateToken(caller, {
      password: body.current_password,
      address: request.ip,
    });
    this.audit.record({ action: 'token.rotated', by, objectId: caller.id });
    return { token };
  }

  @Post('me/password')
  @HttpCode(200)
  @AllowAccess('account')
  @ApiOperation({
    operationId: 'changePassword',
    summary: 'Change your own password',
    description:
      'Ends your other sessions and rotates your main token. The response contains the new main token. Named tokens stay valid: ' +
      'revoke the named tokens that you do not trust.',
  })
  @Accepts(PasswordBody)
  @Answers(200, 'The new main token', { type: TokenReply })
  @RefusesWith({
    ...badBody,
    too_many_requests: 'Too many wrong passwords or too many concurrent logins from this address',
  })
  async changePassword(
    @CurrentUser() caller: Caller,
    @JsonBody(PasswordBody) body: PasswordBody,
    @CurrentActor() by: Actor,
    @Req() request: FastifyRequest,
  ): Promise<TokenReply> {
    const current = { password: body.current_password, address: request.ip };
    const token = await this.users.changePassword(caller, current, body.new_password);
    this.audit.record({ action: 'user.password_changed', by, objectId: caller.id });
    return { token };
  }

  @Get(':id')
  @AllowAccess('owner')
  @ApiOperation({ operationId: 'getUser', summary: 'Get a user', description: 'Owners only.' })
  @DescribesId('The id of the user')
  @Answers(200, 'The user', { type: UserReply })
  @RefusesWith(missing)
  async show(@Id() id: string): Promise<UserReply> {
    return toUserReply(await this.users.get(id));
  }

  @Patch(':id')
  @AllowAccess('owner')
  @ApiOperation({
    operationId: 'updateUser',
    summary: 'Change the role of a user, or disable or enable the user',
    description:
      'Disabling a user revokes all tokens of the user: every gateway rejects them within a second. Enabling the user does not ' +
      'restore the tokens, so the user must log in again.',
  })
  @DescribesId('The id of the user')
  @Accepts(UserStateBody)
  @Answers(200, 'The updated user', { type: UserReply })
  @RefusesWith({ ...badBody, ...missing, conflict: lastOwner })
  async update(
    @Id() id: string,
    @JsonBody(UserStateBody) { role, disabled }: UserStateBody,
    @CurrentActor() by: Actor,
  ): Promise<UserReply> {
    if (role === undefined && disabled === undefined)
      throw ServiceError.onField('disabled', 'is missing: send disabled, role, or both');
    const { before, after } = await this.users.update(id, {
      ...(role !== undefined && { role }),
      ...(disabled !== undefined && { isDisabled: disabled }),
    });
    if (after.role !== before.role)
      this.audit.record({ action: `user.made_${after.role}`, by, objectId: id });
    if (after.isDisabled !== before.isDisabled)
      this.audit.record({ action: after.isDisabled ? 'user.disabled' : 'user.enabled', by, objectId: id });
    return toUserReply(after);
  }

  @Delete(':id')
  @HttpCode(204)
  @AllowAccess('owner')
  @ApiOperation({
    operationId: 'deleteUser',
    summary: 'Delete a user',
    description: 'Deletes the user with all tokens. Keeps the events that the user added.',
  })
  @DescribesId('The id of the user')
  @Answers(204, 'Deleted')
  @RefusesWith({ ...missing, conflict: lastOwner })
  async delete(@Id() id: string, @CurrentActor() by: Actor): Promise<void> {
    await this.users.delete(id);
    this.audit.record({ action: 'user.deleted', by, objectId: id });
  }
}
