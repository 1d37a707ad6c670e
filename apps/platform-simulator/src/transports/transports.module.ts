import { Module } from '@nestjs/common';
import { FaultsModule } from '../faults/faults.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { SocketsModule } from '../sockets/sockets.module.js';
import { Transports } from './transports.service.js';

@Module({
  imports: [FaultsModule, LimitsModule, MessagesModule, SocketsModule],
  providers: [Transports],
  exports: [Transports],
})
export class TransportsModule {}
