import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { TransportDto } from '../transports/transport.dto.js';

// The platform's limits (docs/platform-facts.md §3).
const maxShards = 20_000;
const maxShardsPerRequest = 100;

/** Body of `POST /helix/eventsub/conduits`. */
export class CreateConduitDto {
  @Type(() => Number) // a query parameter arrives as text
  @IsInt()
  @Min(1)
  @Max(maxShards)
  shard_count!: number;
}

/** Body of `PATCH /helix/eventsub/conduits`. */
export class ResizeConduitDto extends CreateConduitDto {
  @IsString()
  @IsNotEmpty()
  id!: string;
}

export class ShardTransportDto extends TransportDto {
  @IsIn(['webhook', 'websocket'])
  declare method: 'webhook' | 'websocket';
}

export class AssignShardDto {
  @IsString()
  id!: string;

  @ValidateNested()
  @Type(() => ShardTransportDto)
  transport!: ShardTransportDto;
}

/** Body of `PATCH /helix/eventsub/conduits/shards`. */
export class AssignShardsDto {
  @IsString()
  @IsNotEmpty()
  conduit_id!: string;

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(maxShardsPerRequest)
  @ValidateNested({ each: true })
  @Type(() => AssignShardDto)
  shards!: AssignShardDto[];
}

/** Query of `GET /helix/eventsub/conduits/shards`. */
export class ListShardsDto {
  @IsString()
  @IsNotEmpty()
  conduit_id!: string;

  @IsOptional()
  @IsString()
  status?: string;

  @IsOptional()
  @IsString()
  after?: string;
}
