import { IsIn, IsInt, IsNumber, IsOptional, Max, Min } from 'class-validator';
import { maxRate, scenarioNames } from '../platform-simulator.config.js';
import { maxMadeAtOnce } from '../world/user-directory.js';
import type { ScenarioName } from './scenarios.js';

/** Body of `POST /simulator/scenarios`; what is left out is as the scenario has it. */
export class PlayScenarioDto {
  @IsIn(['none', ...scenarioNames])
  name!: ScenarioName | 'none';

  /** How many made-up users play it. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(maxMadeAtOnce)
  users?: number;

  /** Events that happen by themselves, per second. */
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(maxRate)
  rate?: number;

  /** The time between its turns or raids. */
  @IsOptional()
  @IsInt()
  @Min(10)
  @Max(3_600_000)
  every_ms?: number;
}
