import { Module } from '@nestjs/common';
import { PlatformModule } from '../platform/platform.module.js';
import { SocketsModule } from '../sockets/sockets.module.js';
import { ConduitStatus } from './conduit-status.service.js';
import { ConduitUpkeep } from './conduit-upkeep.service.js';
import { ConduitsRepository } from './conduits.repository.js';
import { ShardKeeper } from './shard-keeper.service.js';
import { ShardSockets } from './shard-sockets.js';
import { ShardsRepository } from './shards.repository.js';

/** Maintains this installation's conduit, and the sockets for its shards. */
@Module({
  imports: [PlatformModule, SocketsModule],
  providers: [ConduitsRepository, ConduitStatus, ConduitUpkeep, ShardKeeper, ShardSockets, ShardsRepository],
  exports: [ConduitsRepository, ConduitStatus, ConduitUpkeep, ShardKeeper],
})
export class ConduitsModule {}
