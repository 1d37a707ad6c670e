import { Module } from '@nestjs/common';
import { StoreModule } from '../store/store.module.js';
import { DeadLettersController } from './dead-letters.controller.js';
import { DeadLettersService } from './dead-letters.service.js';

@Module({ imports: [StoreModule], controllers: [DeadLettersController], providers: [DeadLettersService] })
export class DeadLettersModule {}
