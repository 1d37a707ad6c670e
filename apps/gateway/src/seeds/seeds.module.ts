import { Module } from '@nestjs/common';
import { Seeds } from './seeds.service.js';

@Module({ providers: [Seeds] })
export class SeedsModule {}
