import { Module } from '@nestjs/common';
import { InstanceBoard } from './instance-board.js';
import { LiveConnectionsController } from './live-connections.controller.js';
import { SystemController } from './system.controller.js';

@Module({
  controllers: [SystemController, LiveConnectionsController],
  providers: [InstanceBoard],
  exports: [InstanceBoard],
})
export class SystemModule {}
