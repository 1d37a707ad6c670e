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
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsString,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { PlatformLimits } from '../behavior/platform-limits.js';
import { pageOf, QueryAsBody, type Pagination } from '../http/request-parameters.js';
import { IsFilledText, IsOptionalText } from '../http/validation.js';
import { Caller, PlatformApiGuard, requireAppToken } from '../oauth/platform-api.guard.js';
import type { TokenOwner } from '../oauth/tokens.js';
import { TransportDto } from '../transports/transport.js';
import type { Conduit, Shard } from './conduit.js';
import { ConduitsService } from './conduits.service.js';

// The platform's limits (FACTS.md §3).
const maxShards = 20_000;
const maxShardsPerRequest = 100;

/** Body of `POST /helix/eventsub/conduits`. */
class CreateConduitDto {
  @Type(() => Number) // a query parameter arrives as text
  @IsInt()
  @Min(1)
  @Max(maxShards)
  shard_count!: number;
}

/** Body of `PATCH /helix/eventsub/conduits`. */
class ResizeConduitDto extends CreateConduitDto {
  @IsFilledText()
  id!: string;
}

class ShardTransportDto extends TransportDto {
  @IsIn(['webhook', 'websocket'])
  declare method: 'webhook' | 'websocket';
}

class AssignShardDto {
  @IsString()
  id!: string;

  @ValidateNested()
  @Type(() => ShardTransportDto)
  transport!: ShardTransportDto;
}

/** Body of `PATCH /helix/eventsub/conduits/shards`. */
class AssignShardsDto {
  @IsFilledText()
  conduit_id!: string;

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(maxShardsPerRequest)
  @ValidateNested({ each: true })
  @Type(() => AssignShardDto)
  shards!: AssignShardDto[];
}

/** Query of `GET /helix/eventsub/conduits/shards`. */
class ListShardsDto {
  @IsFilledText()
  conduit_id!: string;

  @IsOptionalText()
  status?: string;

  @IsOptionalText()
  after?: string;
}

/** An application sees only its own conduits (FACTS.md §3). */
@Controller('helix/eventsub/conduits')
@UseGuards(PlatformApiGuard)
export class ConduitsController {
  constructor(
    @Inject(ConduitsService) private readonly conduits: ConduitsService,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
  ) {}

  @Get()
  list(@Caller() caller: TokenOwner): { data: object[] } {
    requireAppToken(caller);
    return { data: this.conduits.list(caller.clientId).map(viewConduit) };
  }

  @Post()
  @HttpCode(200)
  @UseInterceptors(QueryAsBody)
  create(@Caller() caller: TokenOwner, @Body() { shard_count }: CreateConduitDto): { data: object[] } {
    requireAppToken(caller);
    return { data: [viewConduit(this.conduits.create(caller.clientId, shard_count))] };
  }

  @Patch()
  @UseInterceptors(QueryAsBody)
  resize(@Caller() caller: TokenOwner, @Body() { id, shard_count }: ResizeConduitDto): { data: object[] } {
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
  ): { data: object[]; pagination: Pagination } {
    const all = this.find(caller, conduit_id).list();
    const shards = all.filter((shard) => status === undefined || shard.status === status);
    const { page, pagination } = pageOf(shards, after, this.limits.current.page_size);
    return { data: page.map(viewShard), pagination };
  }

  /** Returns the updated shards, and an error for each shard that could not be updated. */
  @Patch('shards')
  @HttpCode(202)
  @UseInterceptors(QueryAsBody)
  assign(
    @Caller() caller: TokenOwner,
    @Body() { conduit_id, shards }: AssignShardsDto,
  ): { data: object[]; errors: object[] } {
    const conduit = this.find(caller, conduit_id);
    const data: object[] = [];
    const errors: object[] = [];
    for (const { id, transport } of shards) {
      const result = this.conduits.assign(conduit, id, transport);
      if (typeof result === 'string') errors.push({ id, message: result, code: 'invalid_parameter' });
      else data.push(viewShard(result));
    }
    return { data, errors };
  }

  private find(caller: TokenOwner, id: string): Conduit {
    requireAppToken(caller);
    return this.conduits.get(caller.clientId, id);
  }
}

function viewConduit({ id, shardCount }: Conduit): object {
  return { id, shard_count: shardCount };
}

function viewShard({ id, status, transport }: Shard): object {
  return { id, status, transport: transport.view };
}
