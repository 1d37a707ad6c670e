import { Module } from '@nestjs/common';
import { PagingModule } from '../paging/paging.module.js';
import { RebuildController } from './rebuild.controller.js';
import { StreamersController } from './streamers.controller.js';
import { StreamsController } from './streams.controller.js';

@Module({
  imports: [PagingModule],
  controllers: [RebuildController, StreamersController, StreamsController],
})
export class StreamersModule {}
