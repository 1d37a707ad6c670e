import { BadRequestException, ConflictException, Inject, Injectable } from '@nestjs/common';
import { Type } from 'class-transformer';
import {
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateIf,
} from 'class-validator';
import { IsOptionalText } from '../http/validation.js';
import { Grants } from '../oauth/grants.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import type { Person } from '../world/population.js';
import { maxUsers, maxUsersPerRequest, type User } from '../world/user-directory.js';
import { World } from '../world/world.js';

const loginPattern = /^\w{1,64}$/;
const loginRule = { message: 'login must be 1 to 64 letters, digits, and underscores' };

/** Body of `POST /simulator/users`. Creates one user, or `count` users with generated names. */
export class CreateUsersDto {
  @ValidateIf(({ count }: CreateUsersDto) => count === undefined)
  @Matches(loginPattern, loginRule)
  login?: string;

  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(64)
  display_name?: string;

  @IsOptional()
  @Matches(/^[0-9A-Za-z_-]{1,64}$/, { message: 'id must be 1 to 64 letters, digits, _, and -' })
  id?: string;

  @ValidateIf(({ count }: CreateUsersDto) => count !== undefined)
  @IsInt()
  @Min(1)
  @Max(maxUsersPerRequest)
  count?: number;
}

/** Body of `PATCH /simulator/users/<id>`. */
export class RenameUserDto {
  @Matches(loginPattern, loginRule)
  login!: string;

  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(64)
  display_name?: string;
}

/** Query of `GET /simulator/users`. */
export class ListUsersDto {
  @IsOptionalText()
  login?: string;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1_000)
  first?: number;

  @IsOptionalText()
  after?: string;
}

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
    const user = this.world.users.get(id);
    const holder = this.world.users.findByLogin(login);
    if (holder && holder !== user) throw new ConflictException(`the login ${login} is taken`);
    this.world.users.rename(user, login, display_name ?? login);
    return user;
  }

  /** Removes the user and ends the user's stream. Revokes the user's tokens, and all subscriptions that name the user. */
  remove(id: string): void {
    this.world.dismiss(this.world.users.get(id), Date.now());
    this.subscriptions.revokeAbout(id);
    this.grants.revokeAll(id);
  }
}

export type SimulatedUser = ReturnType<typeof describeUser>;

/** A user as the control API shows it. */
export function describeUser(world: World, { id, login, name }: Person) {
  return { id, login, display_name: name, is_live: world.isLive(id) };
}
