import { BadRequestException, Controller, Get, Headers, Inject, Query, UseGuards } from '@nestjs/common';
import { scopes as allScopes } from '@stream-events/platforms';
import { PlatformLimits } from '../behavior/platform-limits.js';
import { readRepeated, type Repeated } from '../http/request-parameters.js';
import { Grants } from '../oauth/grants.js';
import { Caller, PlatformApiGuard, requireAppToken } from '../oauth/platform-api.guard.js';
import type { TokenOwner } from '../oauth/tokens.js';
import type { User } from '../world/user-directory.js';
import { World } from '../world/world.js';

// Maximum ids and logins per request, counted together (FACTS.md §4.4).
const maxUsers = 100;

// Maximum user ids per request for authorizations (FACTS.md §4.1).
const maxAuthorized = 10;

/** The platform's users (FACTS.md §4.4), and the scopes that they have granted (§4.1). */
@Controller('helix')
@UseGuards(PlatformApiGuard)
export class UsersController {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(Grants) private readonly grants: Grants,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
  ) {}

  /** Omits unknown users. If the request has neither ids nor logins, returns the user of the access token. */
  @Get('users')
  find(
    @Caller() { userId }: TokenOwner,
    @Headers('host') host: string,
    @Query('id') id: Repeated,
    @Query('login') login: Repeated,
  ): { data: object[] } {
    const logins = readRepeated('login', login);
    const given = readRepeated('id', id);
    const ids = given.length + logins.length === 0 && userId !== null ? [userId] : given;
    const count = ids.length + logins.length;
    if (count === 0)
      throw new BadRequestException('id or login is required, because an app access token has no user');
    if (count > maxUsers)
      throw new BadRequestException(`at most ${maxUsers} ids and logins are allowed together`);
    const { users } = this.world;
    const found = [
      ...ids.map((requested) => users.find(requested)),
      ...logins.map((requested) => users.findByLogin(requested)),
    ];
    return { data: [...new Set(found)].flatMap((user) => (user ? [viewUser(user, host)] : [])) };
  }

  /** Omits unknown users. Keeps the order of the query. */
  @Get('authorization/users')
  listAuthorized(@Caller() caller: TokenOwner, @Query('user_id') userId: Repeated): { data: object[] } {
    requireAppToken(caller);
    const ids = readRepeated('user_id', userId);
    if (ids.length === 0) throw new BadRequestException('the query parameter user_id is missing');
    if (ids.length > maxAuthorized)
      throw new BadRequestException(`at most ${maxAuthorized} values of user_id`);
    const users = ids.flatMap((id) => this.world.users.find(id) ?? []);
    return { data: users.map((user) => this.describe(caller.clientId, user)) };
  }

  private describe(clientId: string, { id, login, name }: User): object {
    const consent = { clientId, userId: id };
    const names = allScopes.map(({ scope }) => scope);
    const isOpen = this.limits.current.grants === 'everyone' && this.grants.hasOneOf(consent, names);
    const scopes = isOpen ? names : this.grants.scopesOf(consent);
    return { user_id: id, user_name: name, user_login: login, scopes, has_authorized: scopes.length > 0 };
  }
}

/** A user as the platform's API returns it. @param host host and port at which the client reached the simulator */
function viewUser({ id, login, name, createdAt }: User, host: string): object {
  return {
    id,
    login,
    display_name: name,
    type: '',
    broadcaster_type: '',
    description: 'A simulated user who does not exist.',
    profile_image_url: `http://${host}/pictures/users/${id}.png`,
    offline_image_url: '',
    view_count: 0, // the platform no longer counts views
    created_at: createdAt,
  };
}
