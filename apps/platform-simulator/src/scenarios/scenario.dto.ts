import { IsIn, IsInt, IsNumber, IsOptional, Max, Min } from 'class-validator';
import { maxRate, scenarioNames } from '../platform-simulator.config.js';
import { maxUsersPerRequest } from '../world/user-directory.js';
import type { ScenarioName } from './scenarios.js';

/** Body of `POST /simulator/scenarios`. The scenario defines the defaults. */
export class PlayScenarioDto {
  @IsIn(['none', ...scenarioNames])
  name!: ScenarioName | 'none';

  /** Number of generated users who take part. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(maxUsersPerRequest)
  users?: number;

  /** Generated events per second. */
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(maxRate)
  rate?: number;

  /** Milliseconds between two steps. */
  @IsOptional()
  @IsInt()
  @Min(10)
  @Max(3_600_000)
  every_ms?: number;
}
