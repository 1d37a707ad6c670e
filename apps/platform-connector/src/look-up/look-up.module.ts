import { Module } from '@nestjs/common';
import { PlatformModule } from '../platform/platform.module.js';
import { LookUpController } from './look-up.controller.js';

/** Look-ups of users and streams for the other services. */
@Module({ imports: [PlatformModule], controllers: [LookUpController] })
export class LookUpModule {}
