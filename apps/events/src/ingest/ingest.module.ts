import { Module } from '@nestjs/common';
import { StoreModule } from '../store/store.module.js';
import { IngestDrain } from './ingest-drain.service.js';
import { IngestController } from './ingest.controller.js';

@Module({ imports: [StoreModule], controllers: [IngestController], providers: [IngestDrain] })
export class IngestModule {}
