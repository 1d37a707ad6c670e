import { IsIn, IsString } from 'class-validator';
import { revocationStatuses, type RevocationStatus } from '../subscriptions/subscription.js';

/** Body of `POST /simulator/revocations`. */
export class RevokeSubscriptionDto {
  @IsString()
  subscription_id!: string;

  @IsIn(revocationStatuses)
  status!: RevocationStatus;
}
