import { Module } from '@nestjs/common';
import { StoreModule } from '../store/store.module.js';
import { OverlapsController } from './overlaps.controller.js';

/** Records which subscriptions have a twin, so that the store can pair their deliveries. */
@Module({ imports: [StoreModule], controllers: [OverlapsController] })
export class OverlapsModule {}
