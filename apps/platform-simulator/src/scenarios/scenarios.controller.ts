import { Body, Controller, Get, HttpCode, Inject, Post } from '@nestjs/common';
import { PlayScenarioDto } from './scenario.dto.js';
import { ScenarioPlayer } from './scenario-player.service.js';
import { scenarios, type Scenario, type ScenarioName } from './scenarios.js';

export interface ScenariosView {
  /** What is played now. */
  playing: ScenarioName | null;
  scenarios: Readonly<Record<ScenarioName, Scenario>>;
}

/** Controls what story the simulation plays. */
@Controller('simulator/scenarios')
export class ScenariosController {
  constructor(@Inject(ScenarioPlayer) private readonly player: ScenarioPlayer) {}

  @Get()
  view(): ScenariosView {
    return { playing: this.player.playing, scenarios };
  }

  /** Plays a scenario instead of the one before; `none` ends it. */
  @Post()
  @HttpCode(200)
  play(@Body() request: PlayScenarioDto): ScenariosView {
    this.player.play(request);
    return this.view();
  }
}
