import { randomBytes } from 'node:crypto';
import { Module } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { SimulatorConfig } from '../platform-simulator.config.js';
import { World } from './world.js';

@Module({
  providers: [
    {
      provide: World,
      inject: [CONFIG],
      useFactory: (config: SimulatorConfig) =>
        new World(config.SIMULATOR_SEED ?? randomBytes(4).toString('hex')),
    },
  ],
  exports: [World],
})
export class WorldModule {}
