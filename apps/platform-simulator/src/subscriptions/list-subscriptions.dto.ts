import { IsOptional, IsString } from 'class-validator';

/** Query of `GET /helix/eventsub/subscriptions`. At most one filter is allowed. */
export class ListSubscriptionsDto {
  @IsOptional()
  @IsString()
  status?: string;

  @IsOptional()
  @IsString()
  type?: string;

  @IsOptional()
  @IsString()
  user_id?: string;

  @IsOptional()
  @IsString()
  subscription_id?: string;

  @IsOptional()
  @IsString()
  conduit_id?: string;

  @IsOptional()
  @IsString()
  after?: string;
}
