import { Controller } from '@nestjs/common';
import { getRebuild, rebuildStreams, type EmptyRequest, type RebuildReply } from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { RebuildService } from './rebuild.service.js';

@Controller()
export class RebuildController {
  constructor(private readonly rebuild: RebuildService) {}

  @Handles(rebuildStreams)
  async start(_request: EmptyRequest): Promise<RebuildReply> {
    return this.rebuild.start();
  }

  @Handles(getRebuild)
  async get(_request: EmptyRequest): Promise<RebuildReply> {
    return this.rebuild.read();
  }
}
