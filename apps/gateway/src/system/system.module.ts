import { Module } from '@nestjs/common';
import { InstanceBoard } from './instance-board.js';
import { SystemController } from './system.controller.js';

@Module({ controllers: [SystemController], providers: [InstanceBoard], exports: [InstanceBoard] })
export class SystemModule {}
