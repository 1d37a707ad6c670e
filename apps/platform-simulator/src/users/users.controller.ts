import { BadRequestException, Controller, Get, Inject, Query, UseGuards } from '@nestjs/common';
import { readRepeated, type Repeated } from '../http/repeated.js';
import { PlatformApiGuard } from '../oauth/platform-api.guard.js';
import { World } from '../world/world.js';
import { viewUser, type UserView } from '../world/user.js';

// Ids and logins together (docs/platform-facts.md §4.4).
const maxAsked = 100;

/** The platform's look-up of users. */
@Controller('helix/users')
@UseGuards(PlatformApiGuard)
export class UsersController {
  constructor(@Inject(World) private readonly world: World) {}

  /** Those that there are; the others are missing. */
  @Get()
  find(@Query('id') id: Repeated, @Query('login') login: Repeated): { data: UserView[] } {
    const [ids, logins] = [readRepeated('id', id), readRepeated('login', login)];
    const count = ids.length + logins.length;
    if (count === 0) throw new BadRequestException('id or login is needed: an app’s token has no user');
    if (count > maxAsked) throw new BadRequestException(`at most ${maxAsked} ids and logins together`);
    const { users } = this.world;
    const found = [
      ...ids.map((asked) => users.find(asked)),
      ...logins.map((asked) => users.findByLogin(asked)),
    ];
    return { data: [...new Set(found)].flatMap((user) => (user ? [viewUser(user)] : [])) };
  }
}
