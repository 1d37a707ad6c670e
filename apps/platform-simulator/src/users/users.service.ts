import {
  BadRequestException,
  ConflictException,
  Inject,
  Injectable,
  NotFoundException,
} from '@nestjs/common';
import { Grants } from '../grants/grants.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { World } from '../world/world.js';
import type { CreateUsersDto, RenameUserDto } from './user.dto.js';
import { maxUsers } from '../world/user-directory.js';
import type { User } from '../world/user.js';

@Injectable()
export class UsersService {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
    @Inject(Grants) private readonly grants: Grants,
  ) {}

  /** Adds one user, or `count` users with generated names. */
  create({ login, display_name, id, count = 1 }: CreateUsersDto): User[] {
    const { users } = this.world;
    if (users.size + count > maxUsers) {
      throw new BadRequestException(`there are ${users.size} users; the maximum is ${maxUsers}`);
    }
    if (login === undefined) return Array.from({ length: count }, () => users.addGenerated());
    if (users.findByLogin(login)) throw new ConflictException(`the login ${login} is taken`);
    if (id !== undefined && users.find(id)) throw new ConflictException(`the id ${id} is taken`);
    const user = users.add({ login, name: display_name, id });
    this.world.welcome(user);
    return [user];
  }

  rename(id: string, { login, display_name }: RenameUserDto): User {
    const user = this.find(id);
    const holder = this.world.users.findByLogin(login);
    if (holder && holder !== user) throw new ConflictException(`the login ${login} is taken`);
    this.world.users.rename(user, login, display_name ?? login);
    return user;
  }

  /** Removes the user and ends the user's stream. Revokes the user's tokens, and all subscriptions that name the user. */
  remove(id: string): void {
    this.world.dismiss(this.find(id), Date.now());
    this.subscriptions.revokeAbout(id);
    this.grants.revokeAll(id);
  }

  private find(id: string): User {
    const user = this.world.users.find(id);
    if (!user) throw new NotFoundException(`there is no user ${id}`);
    return user;
  }
}
