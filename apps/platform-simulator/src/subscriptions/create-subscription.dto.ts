import { Type } from 'class-transformer';
import { IsBoolean, IsNotEmpty, IsObject, IsOptional, IsString, ValidateNested } from 'class-validator';
import { TransportDto } from '../transports/transport.dto.js';

/** Body of `POST /helix/eventsub/subscriptions`. event-type.ts checks the condition, because its keys depend on the type. */
export class CreateSubscriptionDto {
  @IsString()
  @IsNotEmpty()
  type!: string;

  @IsString()
  @IsNotEmpty()
  version!: string;

  @IsObject()
  condition!: Record<string, unknown>;

  @IsObject()
  @ValidateNested()
  @Type(() => TransportDto)
  transport!: TransportDto;

  @IsOptional()
  @IsBoolean()
  is_batching_enabled?: boolean;
}
