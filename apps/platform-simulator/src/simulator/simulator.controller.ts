import { Body, Controller, Get, Inject, Patch } from '@nestjs/common';
import { ApiFaultsService } from '../faults/api-faults.service.js';
import { FaultsService, type FaultsView } from '../faults/faults.service.js';
import type { DeliveryCountsView } from '../messages/delivery-counts.js';
import { DeliveryService } from '../messages/delivery.service.js';
import { NotificationGenerator } from '../notifications/notification-generator.service.js';
import { simulatedTypes, type SimulatedType } from '../world/lively-events.js';
import { World } from '../world/world.js';
import { ChangeSimulatorDto } from './simulator.dto.js';

export interface SimulatorView {
  simulation: true;
  description: string;
  seed: string;
  /** Events per second. */
  rate: number;
  faults: FaultsView;
  /** Only the initial broadcasters. `GET /simulator/users` lists all users. */
  broadcasters: { id: string; login: string; display_name: string; is_live: boolean }[];
  users: number;
  live_streams: number;
  /** Event types that the generator produces. */
  event_types: readonly SimulatedType[];
  /** Calls to the platform's API, by `METHOD path`. */
  requests: Record<string, number>;
  /** `missed` counts events that were skipped because callbacks were slower than the rate. */
  notifications: DeliveryCountsView & { missed: number };
}

const description =
  'This is a SIMULATION of a streaming platform for development, demos, and tests. ' +
  'Its broadcasters, viewers, and events are not real.';

/** Shows and changes the simulation. The real platform has no routes below `/simulator`. */
@Controller('simulator')
export class SimulatorController {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(NotificationGenerator) private readonly generator: NotificationGenerator,
    @Inject(DeliveryService) private readonly delivery: DeliveryService,
    @Inject(FaultsService) private readonly faults: FaultsService,
    @Inject(ApiFaultsService) private readonly apiFaults: ApiFaultsService,
  ) {}

  @Get()
  view(): SimulatorView {
    return {
      simulation: true,
      description,
      seed: this.world.seed,
      rate: this.generator.rate,
      faults: this.faults.view(Date.now()),
      broadcasters: this.world.channels.map(({ broadcaster: { id, login, name }, stream }) => {
        return { id, login, display_name: name, is_live: stream !== null };
      }),
      users: this.world.users.size,
      live_streams: this.world.broadcasts.liveCount,
      event_types: simulatedTypes,
      requests: this.apiFaults.viewRequests(),
      notifications: { ...this.delivery.viewCounts(), missed: this.generator.missedCount },
    };
  }

  @Patch()
  change(@Body() { rate, faults }: ChangeSimulatorDto): SimulatorView {
    if (faults) this.faults.change(faults);
    if (rate !== undefined) this.generator.setRate(rate);
    return this.view();
  }
}
