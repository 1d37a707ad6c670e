import {
  BadRequestException,
  ConflictException,
  Inject,
  Injectable,
  NotFoundException,
} from '@nestjs/common';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { World } from '../world/world.js';
import type { CreateUsersDto, RenameUserDto } from './user.dto.js';
import { maxUsers } from '../world/user-directory.js';
import type { User } from '../world/user.js';

/** Makes, renames and removes the users of the simulated platform. */
@Injectable()
export class UsersService {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
  ) {}

  /** Makes one user, or many whose names are made up. */
  create({ login, display_name, id, count = 1 }: CreateUsersDto): User[] {
    const { users } = this.world;
    if (users.size + count > maxUsers) {
      throw new BadRequestException(`there are ${users.size} users, and there may be ${maxUsers}`);
    }
    if (login === undefined) return Array.from({ length: count }, () => users.addMadeUp());
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

  /** The user is gone: from look-ups, from the air, and from every subscription. */
  remove(id: string): void {
    this.world.dismiss(this.find(id), Date.now());
    this.subscriptions.revokeAbout(id);
  }

  private find(id: string): User {
    const user = this.world.users.find(id);
    if (!user) throw new NotFoundException(`there is no user ${id}`);
    return user;
  }
}
