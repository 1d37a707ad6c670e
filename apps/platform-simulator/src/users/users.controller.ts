import { BadRequestException, Controller, Get, Headers, Inject, Query, UseGuards } from '@nestjs/common';
import { readRepeated, type Repeated } from '../http/repeated.js';
import type { TokenOwner } from '../oauth/access-tokens.js';
import { Caller } from '../oauth/caller.js';
import { PlatformApiGuard } from '../oauth/platform-api.guard.js';
import { World } from '../world/world.js';
import { viewUser, type UserView } from '../world/user.js';

// Maximum ids and logins per request, counted together (docs/platform-facts.md §4.4).
const maxRequested = 100;

@Controller('helix/users')
@UseGuards(PlatformApiGuard)
export class UsersController {
  constructor(@Inject(World) private readonly world: World) {}

  /** Omits unknown users. If the request has neither ids nor logins, returns the user of the access token. */
  @Get()
  find(
    @Caller() { userId }: TokenOwner,
    @Headers('host') host: string,
    @Query('id') id: Repeated,
    @Query('login') login: Repeated,
  ): { data: UserView[] } {
    const logins = readRepeated('login', login);
    const given = readRepeated('id', id);
    const ids = given.length + logins.length === 0 && userId !== null ? [userId] : given;
    const count = ids.length + logins.length;
    if (count === 0)
      throw new BadRequestException('id or login is required, because an app access token has no user');
    if (count > maxRequested)
      throw new BadRequestException(`at most ${maxRequested} ids and logins are allowed together`);
    const { users } = this.world;
    const found = [
      ...ids.map((requested) => users.find(requested)),
      ...logins.map((requested) => users.findByLogin(requested)),
    ];
    return { data: [...new Set(found)].flatMap((user) => (user ? [viewUser(user, host)] : [])) };
  }
}
