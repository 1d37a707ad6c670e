import { Module } from '@nestjs/common';
import { StoreModule } from '../store/store.module.js';
import { IngestDrain } from './ingest-drain.service.js';
import { IngestController } from './ingest.controller.js';
import { StoreSizes } from './store-sizes.js';

/** Stores the events that gateways send, by request or through the INGEST stream. */
@Module({ imports: [StoreModule], controllers: [IngestController], providers: [IngestDrain, StoreSizes] })
export class IngestStorageModule {}
