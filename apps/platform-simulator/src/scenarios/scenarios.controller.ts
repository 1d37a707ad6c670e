import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { PlayScenarioDto } from './scenario.dto.js';
import { ScenarioPlayer } from './scenario-player.service.js';
import { scenarios, type Scenario, type ScenarioName } from './scenarios.js';

export interface ScenariosView {
  /** Null if no scenario is running. */
  playing: ScenarioName | null;
  scenarios: Readonly<Record<ScenarioName, Scenario>>;
}

@Controller('simulator/scenarios')
export class ScenariosController {
  constructor(@Inject(ScenarioPlayer) private readonly player: ScenarioPlayer) {}

  @Get()
  view(): ScenariosView {
    return { playing: this.player.playing, scenarios };
  }

  /** Stops the running scenario and starts another. `none` only stops it. */
  @Post()
  @HttpCode(200)
  play(@Body() request: PlayScenarioDto): ScenariosView {
    this.player.play(request);
    return this.view();
  }
}
