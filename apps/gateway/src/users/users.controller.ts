import { Controller, Get, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Accepts, Answers, DescribesId, RefusesWith, RequiresToken } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { AllowAccess, CurrentUser } from './access.guard.js';
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

const invalid = {
  invalid: 'A field is missing or wrong',
  unsupported_media_type: 'The body is not application/json',
  too_large: 'The body is over 256 KiB',
};

@ApiTags('Users')
@Controller('api/v1/users')
export class UsersController {
  constructor(
    private readonly users: UsersService,
    private readonly tokens: AccessTokens,
  ) {}

  @Post()
  @AllowAccess('registration')
  @ApiOperation({
    summary: 'Register a user',
    description: 'Needs an owner’s token, unless the service runs with REGISTRATION=open.',
  })
  @Accepts(RegistrationBody)
  @Answers(201, 'The new user with an access token', { type: RegistrationReply, location: true })
  @RequiresToken()
  @RefusesWith({
    ...invalid,
    forbidden: 'The token is not an owner’s',
    conflict: 'The user name is taken (in any case)',
  })
  async register(
    @JsonBody(RegistrationBody) body: RegistrationBody,
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
    reply.header('Location', `/api/v1/users/${user.id}`);
    return { ...toUserReply(user), auth_token: token };
  }

  @Get()
  @AllowAccess('owner')
  @ApiOperation({ summary: 'List all users', description: 'Owners only.' })
  @Answers(200, 'All users, oldest first', { type: UserReply, isArray: true })
  @RequiresToken()
  @RefusesWith({ forbidden: 'The token is not an owner’s' })
  async list(): Promise<UserReply[]> {
    return (await this.users.list()).map(toUserReply);
  }

  @Get('me')
  @ApiOperation({
    summary: 'Show the token’s user',
    description: 'Who the token of this request belongs to.',
  })
  @Answers(200, 'The user', { type: UserReply })
  @RequiresToken()
  async showMe(@CurrentUser() caller: Caller): Promise<UserReply> {
    return toUserReply(await this.users.get(caller.id));
  }

  @Patch('me')
  @ApiOperation({
    summary: 'Change one’s own names and e-mail address',
    description: 'Fields that are left out stay as they are.',
  })
  @Accepts(ProfileBody)
  @Answers(200, 'The user as changed', { type: UserReply })
  @RequiresToken()
  @RefusesWith(invalid)
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
    summary: 'Rotate one’s own access token',
    description: 'The old token is refused everywhere within a second.',
  })
  @Answers(200, 'The new token', { type: TokenReply })
  @RequiresToken()
  async rotateToken(@CurrentUser() caller: Caller): Promise<TokenReply> {
    return { token: await this.tokens.issue(caller.id) };
  }

  @Post('me/password')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Change one’s own password',
    description: 'Other sessions end: the old token is refused, the answer has the new one.',
  })
  @Accepts(PasswordBody)
  @Answers(200, 'The new token', { type: TokenReply })
  @RequiresToken()
  @RefusesWith({ ...invalid, too_many_requests: 'Too many wrong passwords from this address' })
  async changePassword(
    @CurrentUser() caller: Caller,
    @JsonBody(PasswordBody) body: PasswordBody,
    @Req() request: FastifyRequest,
  ): Promise<TokenReply> {
    const change = { current: body.current_password, next: body.new_password, address: request.ip };
    return { token: await this.users.changePassword(caller.id, change) };
  }

  @Get(':id')
  @AllowAccess('owner')
  @ApiOperation({ summary: 'Show a user', description: 'Owners only.' })
  @DescribesId('The user’s id')
  @Answers(200, 'The user', { type: UserReply })
  @RequiresToken()
  @RefusesWith({ forbidden: 'The token is not an owner’s', not_found: 'There is no such user' })
  async show(@Id() id: string): Promise<UserReply> {
    return toUserReply(await this.users.get(id));
  }

  @Patch(':id')
  @AllowAccess('owner')
  @ApiOperation({
    summary: 'Disable or enable a user',
    description: 'A disabled user’s token is refused everywhere within a second.',
  })
  @DescribesId('The user’s id')
  @Accepts(UserStateBody)
  @Answers(200, 'The user as changed', { type: UserReply })
  @RequiresToken()
  @RefusesWith({
    ...invalid,
    forbidden: 'The token is not an owner’s',
    not_found: 'There is no such user',
    conflict: 'Owners cannot disable themselves',
  })
  async setState(
    @Id() id: string,
    @JsonBody(UserStateBody) body: UserStateBody,
    @CurrentUser() caller: Caller,
  ): Promise<UserReply> {
    return toUserReply(await this.users.setDisabled(id, body.disabled, caller.id));
  }
}
