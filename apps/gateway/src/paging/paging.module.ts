import { Module } from '@nestjs/common';
import { HttpModule } from '../http/http.module.js';
import { ListLinks } from './list-links.js';

@Module({ imports: [HttpModule], providers: [ListLinks], exports: [ListLinks] })
export class PagingModule {}
