import { Controller } from '@nestjs/common';
import {
  beginOverlaps,
  endOverlaps,
  type BeginOverlapsReply,
  type BeginOverlapsRequest,
  type EndOverlapsReply,
  type EndOverlapsRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { Overlaps } from '../store/overlaps.service.js';

@Controller()
export class OverlapsController {
  constructor(private readonly overlaps: Overlaps) {}

  @Handles(beginOverlaps)
  async begin({ subscriptions }: BeginOverlapsRequest): Promise<BeginOverlapsReply> {
    return { readyInMs: await this.overlaps.begin(subscriptions) };
  }

  @Handles(endOverlaps)
  async end({ overlaps, endedAt }: EndOverlapsRequest): Promise<EndOverlapsReply> {
    await this.overlaps.end(overlaps, endedAt);
    return {};
  }
}
