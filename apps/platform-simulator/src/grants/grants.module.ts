import { Module } from '@nestjs/common';
import { LimitsModule } from '../limits/limits.module.js';
import { Grants } from './grants.js';

@Module({ imports: [LimitsModule], providers: [Grants], exports: [Grants] })
export class GrantsModule {}
