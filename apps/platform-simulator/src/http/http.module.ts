import { Module } from '@nestjs/common';
import { ControlAccess } from './control-access.js';

/** Access to the control API and the pages. */
@Module({ providers: [ControlAccess], exports: [ControlAccess] })
export class HttpModule {}
