import { BadRequestException, Controller, Get, Inject, Query, UseGuards } from '@nestjs/common';
import { scopes as allScopes } from '@stream-events/platforms';
import { Grants } from '../grants/grants.js';
import { readRepeated, type Repeated } from '../http/repeated.js';
import { PlatformLimits } from '../limits/platform-limits.js';
import type { TokenOwner } from '../oauth/access-tokens.js';
import { Caller, requireAppToken } from '../oauth/caller.js';
import { PlatformApiGuard } from '../oauth/platform-api.guard.js';
import type { User } from '../world/user.js';
import { World } from '../world/world.js';

interface AuthorizedUser {
  user_id: string;
  user_name: string;
  user_login: string;
  scopes: string[];
  has_authorized: boolean;
}

// Maximum user ids per request (docs/platform-facts.md §4.1).
const maxRequested = 10;

/** Lists which scopes users have granted, in the order of the query (docs/platform-facts.md §4.1). */
@Controller('helix/authorization/users')
@UseGuards(PlatformApiGuard)
export class AuthorizedUsersController {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(Grants) private readonly grants: Grants,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
  ) {}

  @Get()
  list(@Caller() caller: TokenOwner, @Query('user_id') userId: Repeated): { data: AuthorizedUser[] } {
    requireAppToken(caller);
    const ids = readRepeated('user_id', userId);
    if (ids.length === 0) throw new BadRequestException('the query parameter user_id is missing');
    if (ids.length > maxRequested) throw new BadRequestException(`at most ${maxRequested} values of user_id`);
    const users = ids.flatMap((id) => this.world.users.find(id) ?? []);
    return { data: users.map((user) => this.describe(caller.clientId, user)) };
  }

  private describe(clientId: string, { id, login, name }: User): AuthorizedUser {
    const consent = { clientId, userId: id };
    const names = allScopes.map(({ scope }) => scope);
    const isOpen = this.limits.current.grants === 'everyone' && this.grants.hasOneOf(consent, names);
    const scopes = isOpen ? names : this.grants.scopesOf(consent);
    return { user_id: id, user_name: name, user_login: login, scopes, has_authorized: scopes.length > 0 };
  }
}
