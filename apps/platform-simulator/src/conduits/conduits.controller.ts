import {
  BadRequestException,
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Patch,
  Post,
  Query,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { decodeCursor, paginate, type Pagination } from '../http/page-cursor.js';
import { QueryAsBody } from '../http/query-as-body.js';
import { PlatformLimits } from '../limits/platform-limits.js';
import type { TokenOwner } from '../oauth/access-tokens.js';
import { Caller, requireAppToken } from '../oauth/caller.js';
import { PlatformApiGuard } from '../oauth/platform-api.guard.js';
import { AssignShardsDto, CreateConduitDto, ListShardsDto, ResizeConduitDto } from './conduit.dto.js';
import type { Conduit } from './conduit.js';
import { ConduitsService } from './conduits.service.js';
import { ShardsService, viewShard, type ShardError, type ShardView } from './shards.service.js';

interface ConduitView {
  id: string;
  shard_count: number;
}

/** An application sees only its own conduits (docs/platform-facts.md §3). */
@Controller('helix/eventsub/conduits')
@UseGuards(PlatformApiGuard)
export class ConduitsController {
  constructor(
    @Inject(ConduitsService) private readonly conduits: ConduitsService,
    @Inject(ShardsService) private readonly shards: ShardsService,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
  ) {}

  @Get()
  list(@Caller() caller: TokenOwner): { data: ConduitView[] } {
    requireAppToken(caller);
    return { data: this.conduits.list(caller.clientId).map(viewConduit) };
  }

  @Post()
  @HttpCode(200)
  @UseInterceptors(QueryAsBody)
  create(@Caller() caller: TokenOwner, @Body() { shard_count }: CreateConduitDto): { data: ConduitView[] } {
    requireAppToken(caller);
    return { data: [viewConduit(this.conduits.create(caller.clientId, shard_count))] };
  }

  @Patch()
  @UseInterceptors(QueryAsBody)
  resize(
    @Caller() caller: TokenOwner,
    @Body() { id, shard_count }: ResizeConduitDto,
  ): { data: ConduitView[] } {
    const conduit = this.find(caller, id);
    conduit.resize(shard_count);
    return { data: [viewConduit(conduit)] };
  }

  @Delete()
  @HttpCode(204)
  delete(@Caller() caller: TokenOwner, @Query('id') id?: string): void {
    if (!id) throw new BadRequestException('the query parameter id is missing');
    this.conduits.delete(this.find(caller, id));
  }

  @Get('shards')
  listShards(
    @Caller() caller: TokenOwner,
    @Query() { conduit_id, status, after }: ListShardsDto,
  ): { data: ShardView[]; pagination: Pagination } {
    const [offset, size] = [decodeCursor(after), this.limits.current.page_size];
    const all = this.find(caller, conduit_id).list();
    const shards = all.filter((shard) => status === undefined || shard.status === status);
    const data = shards.slice(offset, offset + size).map(viewShard);
    return { data, pagination: paginate(offset + size < shards.length ? offset + size : null) };
  }

  @Patch('shards')
  @HttpCode(202)
  assign(
    @Caller() caller: TokenOwner,
    @Body() { conduit_id, shards }: AssignShardsDto,
  ): { data: ShardView[]; errors: ShardError[] } {
    return this.shards.assign(this.find(caller, conduit_id), shards);
  }

  private find(caller: TokenOwner, id: string): Conduit {
    requireAppToken(caller);
    return this.conduits.get(caller.clientId, id);
  }
}

function viewConduit({ id, shardCount }: Conduit): ConduitView {
  return { id, shard_count: shardCount };
}
