import { Module } from '@nestjs/common';
import { PagingModule } from '../paging/paging.module.js';
import { DeadLettersController } from './dead-letters.controller.js';

@Module({ imports: [PagingModule], controllers: [DeadLettersController] })
export class DeadLettersModule {}
