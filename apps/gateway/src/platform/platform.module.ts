import { Module } from '@nestjs/common';
import { PagingModule } from '../paging/paging.module.js';
import { PlatformController } from './platform.controller.js';

@Module({ imports: [PagingModule], controllers: [PlatformController] })
export class PlatformModule {}
