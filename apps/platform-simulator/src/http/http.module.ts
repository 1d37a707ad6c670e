import { Module } from '@nestjs/common';
import { ControlAccess } from './control-access.js';

/** Who may use what. */
@Module({ providers: [ControlAccess], exports: [ControlAccess] })
export class HttpModule {}
