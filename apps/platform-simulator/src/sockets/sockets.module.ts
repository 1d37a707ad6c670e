import { Module } from '@nestjs/common';
import { FaultsModule } from '../faults/faults.module.js';
import { HttpModule } from '../http/http.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { SimulatedSocketsController } from './simulated-sockets.controller.js';
import { SocketServer } from './socket-server.service.js';

@Module({
  imports: [FaultsModule, HttpModule, LimitsModule],
  controllers: [SimulatedSocketsController],
  providers: [SocketServer],
  exports: [SocketServer],
})
export class SocketsModule {}
