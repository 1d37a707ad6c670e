import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsNotEmpty,
  IsObject,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  ValidateNested,
} from 'class-validator';

/**
 * What counts as a callback. The real platform insists on https and port 443; a simulator has to reach services on
 * the same machine, which have neither, so any http address will do.
 */
export const callbackRules = {
  protocols: ['http', 'https'],
  require_protocol: true,
  require_tld: false,
  allow_underscores: true, // names of containers have them
};

/** ASCII, 10 to 100 characters (docs/platform-facts.md §1.2). */
export const secretPattern = /^[\x20-\x7e]{10,100}$/;
export const secretRule = { message: 'secret must be 10 to 100 ASCII characters' };

export class WebhookTransportDto {
  @IsIn(['webhook'])
  method!: 'webhook';

  @IsUrl(callbackRules)
  callback!: string;

  @Matches(secretPattern, secretRule)
  secret!: string;
}

/** Body of `POST /helix/eventsub/subscriptions`. The condition's keys depend on the type: event-type.ts checks them. */
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
  @Type(() => WebhookTransportDto)
  transport!: WebhookTransportDto;

  @IsOptional()
  @IsBoolean()
  is_batching_enabled?: boolean;
}
