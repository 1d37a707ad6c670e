import { Inject, Injectable } from '@nestjs/common';
import type { OutboundConduits } from '@stream-events/platforms';
import { LOGGER, type Logger } from '@stream-events/service';
import { PLATFORM, PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { DeliveryGaps } from '../sockets/delivery-gaps.service.js';
import { SocketIngest } from '../sockets/socket-ingest.service.js';
import { ShardSocket } from './shard-socket.js';
import { ShardsRepository, type ShardKey } from './shards.repository.js';

/** Creates the sockets for shards. */
@Injectable()
export class ShardSockets {
  constructor(
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    @Inject(PLATFORM) private readonly platform: OutboundConduits,
    private readonly shards: ShardsRepository,
    private readonly ingest: SocketIngest,
    private readonly gaps: DeliveryGaps,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  create(key: ShardKey, holder: string, onShardDisabled: () => void): ShardSocket {
    const { platform, shards, ingest, gaps, logger } = this;
    const url = this.settings.urls.socket;
    return new ShardSocket(key, holder, { url, platform, shards, ingest, gaps, logger, onShardDisabled });
  }
}
