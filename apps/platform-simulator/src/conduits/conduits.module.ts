import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { TransportsModule } from '../transports/transports.module.js';
import { ConduitsController } from './conduits.controller.js';
import { ConduitsService } from './conduits.service.js';
import { ShardsService } from './shards.service.js';

@Module({
  imports: [LimitsModule, OAuthModule, TransportsModule],
  controllers: [ConduitsController],
  providers: [ConduitsService, ShardsService],
  exports: [ConduitsService],
})
export class ConduitsModule {}
