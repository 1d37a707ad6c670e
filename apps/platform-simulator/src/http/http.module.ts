import { Module } from '@nestjs/common';
import { ControlAccess } from './control-access.js';

@Module({ providers: [ControlAccess], exports: [ControlAccess] })
export class HttpModule {}
