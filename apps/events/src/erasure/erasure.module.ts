import { Module } from '@nestjs/common';
import { StoreModule } from '../store/store.module.js';
import { StreamSummariesModule } from '../stream-summaries/stream-summaries.module.js';
import { ErasedMessagesRepository } from './erased-messages.repository.js';
import { ErasureRunner } from './erasure-runner.service.js';
import { stageClasses, stagesProvider } from './erasure-stages.js';
import { ErasuresController } from './erasures.controller.js';
import { ErasuresRepository } from './erasures.repository.js';

@Module({
  imports: [StoreModule, StreamSummariesModule],
  controllers: [ErasuresController],
  providers: [ErasedMessagesRepository, ErasureRunner, ErasuresRepository, ...stageClasses, stagesProvider],
})
export class ErasureModule {}
