import { Module } from '@nestjs/common';
import { PlatformModule } from '../platform/platform.module.js';
import { LookUpController } from './look-up.controller.js';

/** Looks up users and streams for other services. */
@Module({ imports: [PlatformModule], controllers: [LookUpController] })
export class LookUpModule {}
