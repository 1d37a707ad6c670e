import { Type } from 'class-transformer';
import { IsNumber, IsOptional, Max, Min, ValidateIf, ValidateNested } from 'class-validator';
import { FaultsDto } from '../faults/fault.dto.js';
import { maxRate } from '../platform-simulator.config.js';

/** Body of `PATCH /simulator`. Missing fields keep their values. */
export class ChangeSimulatorDto {
  /** Events per second. */
  @ValidateIf((_, rate) => rate !== undefined) // null must fail the validation
  @IsNumber()
  @Min(0)
  @Max(maxRate)
  rate?: number;

  @IsOptional()
  @ValidateNested()
  @Type(() => FaultsDto)
  faults?: FaultsDto;
}
