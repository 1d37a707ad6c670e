import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query } from '@nestjs/common';
import { decodeCursor, paginate, type Pagination } from '../http/page-cursor.js';
import { World } from '../world/world.js';
import { CreateUsersDto, ListUsersDto, RenameUserDto } from './user.dto.js';
import type { User } from '../world/user.js';
import { UsersService } from './users.service.js';

interface SimulatedUser {
  id: string;
  login: string;
  display_name: string;
  is_live: boolean;
}

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
    const { users: directory } = this.world;
    const offset = decodeCursor(after);
    const named = login === undefined ? undefined : directory.findByLogin(login);
    const users = login === undefined ? directory.list(first, offset) : [named].flatMap((user) => user ?? []);
    const hasMore = login === undefined && offset + users.length < directory.size;
    return {
      users: users.map((user) => this.describe(user)),
      total: directory.size,
      pagination: paginate(hasMore ? offset + users.length : null),
    };
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

  private describe({ id, login, name }: User): SimulatedUser {
    return { id, login, display_name: name, is_live: this.world.isLive(id) };
  }
}
