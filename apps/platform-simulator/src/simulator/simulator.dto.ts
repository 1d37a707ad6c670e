import { IsIn, IsNumber, IsString, Max, Min } from 'class-validator';
import { maxRate } from '../platform-simulator.config.js';
import { revocationStatuses, type RevocationStatus } from '../subscriptions/subscription.js';

/** Body of `PATCH /simulator`. */
export class ChangeSimulatorDto {
  /** Events per second. */
  @IsNumber()
  @Min(0)
  @Max(maxRate)
  rate!: number;
}

/** Body of `POST /simulator/revocations`. */
export class RevokeSubscriptionDto {
  @IsString()
  subscription_id!: string;

  @IsIn(revocationStatuses)
  status!: RevocationStatus;
}
