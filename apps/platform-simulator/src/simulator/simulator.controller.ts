import { Body, Controller, Get, HttpCode, Inject, Patch, Post } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsNumber, IsOptional, Max, Min, ValidateIf, ValidateNested } from 'class-validator';
import { ApiFaultsService } from '../behavior/api-faults.service.js';
import { FaultsDto, FaultsService } from '../behavior/faults.service.js';
import { NotificationGenerator } from '../notifications/notification-generator.service.js';
import { maxRate } from '../platform-simulator.config.js';
import { DeliveryCounts } from '../transports/delivery.service.js';
import { describeUser } from '../users/users.service.js';
import { simulatedTypes } from '../world/lively-events.js';
import { World } from '../world/world.js';
import { ScenarioPlayer } from './scenario-player.service.js';
import { PlayScenarioDto, scenarios, type Scenario, type ScenarioName } from './scenarios.js';

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

export type SimulatorView = ReturnType<SimulatorController['view']>;

const description =
  'This is a SIMULATION of a streaming platform for development, demos, and tests. ' +
  'Its broadcasters, viewers, and events are not real.';

/** Shows and changes the simulation. The real platform has no routes below `/simulator`. */
@Controller('simulator')
export class SimulatorController {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(NotificationGenerator) private readonly generator: NotificationGenerator,
    @Inject(DeliveryCounts) private readonly counts: DeliveryCounts,
    @Inject(FaultsService) private readonly faults: FaultsService,
    @Inject(ApiFaultsService) private readonly apiFaults: ApiFaultsService,
  ) {}

  @Get()
  view() {
    return {
      simulation: true,
      description,
      seed: this.world.seed,
      /** Events per second. */
      rate: this.generator.rate,
      faults: this.faults.view(Date.now()),
      /** Only the initial broadcasters. `GET /simulator/users` lists all users. */
      broadcasters: this.world.channels.map(({ broadcaster }) => describeUser(this.world, broadcaster)),
      users: this.world.users.size,
      live_streams: this.world.broadcasts.liveCount,
      /** Event types that the generator produces. */
      event_types: simulatedTypes,
      /** Calls to the platform's API, by `METHOD path`. */
      requests: this.apiFaults.viewRequests(),
      /** `missed` counts events that were skipped because callbacks were slower than the rate. */
      notifications: { ...this.counts.view(), missed: this.generator.missed },
    };
  }

  @Patch()
  change(@Body() { rate, faults }: ChangeSimulatorDto): SimulatorView {
    if (faults) this.faults.change(faults);
    if (rate !== undefined) this.generator.setRate(rate);
    return this.view();
  }
}

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
