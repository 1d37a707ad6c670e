import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query } from '@nestjs/common';
import { pageOf, type Pagination } from '../http/request-parameters.js';
import type { User } from '../world/user-directory.js';
import { World } from '../world/world.js';
import {
  CreateUsersDto,
  describeUser,
  ListUsersDto,
  RenameUserDto,
  UsersService,
  type SimulatedUser,
} from './users.service.js';

// Default page size: a list that a person can read.
const defaultPageSize = 100;

@Controller('simulator/users')
export class SimulatedUsersController {
  constructor(
    @Inject(UsersService) private readonly users: UsersService,
    @Inject(World) private readonly world: World,
  ) {}

  @Get()
  list(@Query() { login, first = defaultPageSize, after }: ListUsersDto): {
    users: SimulatedUser[];
    total: number;
    pagination: Pagination;
  } {
    const { users } = this.world;
    const wanted = login === undefined ? users.list() : [users.findByLogin(login) ?? []].flat();
    const { page, pagination } = pageOf(wanted, after, first);
    return { users: page.map((user) => this.describe(user)), total: users.size, pagination };
  }

  @Post()
  create(@Body() request: CreateUsersDto): { users: SimulatedUser[] } {
    return { users: this.users.create(request).map((user) => this.describe(user)) };
  }

  @Patch(':id')
  rename(@Param('id') id: string, @Body() request: RenameUserDto): SimulatedUser {
    return this.describe(this.users.rename(id, request));
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@Param('id') id: string): void {
    this.users.remove(id);
  }

  private describe(user: User): SimulatedUser {
    return describeUser(this.world, user);
  }
}
