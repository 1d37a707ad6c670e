import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { WorldModule } from '../world/world.module.js';
import { ApiFaultsService } from './api-faults.service.js';
import { FaultsService } from './faults.service.js';

@Module({
  imports: [LimitsModule, WorldModule],
  providers: [FaultsService, ApiFaultsService],
  exports: [FaultsService, ApiFaultsService],
})
export class FaultsModule {}
