import { Controller } from '@nestjs/common';
import {
  createStreamer,
  deleteStreamer,
  eraseStreamer,
  getStreamer,
  listMonitored,
  listStreamers,
  updateStreamer,
  type CreateStreamerRequest,
  type DeleteStreamerReply,
  type EraseStreamerReply,
  type EraseStreamerRequest,
  type ListMonitoredReply,
  type ListStreamersReply,
  type ListStreamersRequest,
  type StreamerMessage,
  type StreamerRequest,
  type UpdateStreamerRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import type { Streamer } from './streamer.entity.js';
import { StreamersService } from './streamers.service.js';

@Controller()
export class StreamersController {
  constructor(private readonly streamers: StreamersService) {}

  @Handles(listStreamers)
  async list({ after }: ListStreamersRequest): Promise<ListStreamersReply> {
    const { streamers, next } = await this.streamers.list(after);
    return { streamers: streamers.map(toMessage), next };
  }

  @Handles(listMonitored)
  async listMonitored({ after }: ListStreamersRequest): Promise<ListMonitoredReply> {
    const { streamers, next } = await this.streamers.listMonitored(after);
    return { platformIds: streamers.map(({ platformId }) => platformId), next };
  }

  @Handles(createStreamer)
  async create(request: CreateStreamerRequest): Promise<StreamerMessage> {
    return toMessage(await this.streamers.create(request));
  }

  @Handles(getStreamer)
  async get({ id }: StreamerRequest): Promise<StreamerMessage> {
    return toMessage(await this.streamers.get(id));
  }

  @Handles(updateStreamer)
  async update(request: UpdateStreamerRequest): Promise<StreamerMessage> {
    return toMessage(await this.streamers.update(request));
  }

  @Handles(deleteStreamer)
  async delete({ id }: StreamerRequest): Promise<DeleteStreamerReply> {
    await this.streamers.delete(id);
    return { id };
  }

  @Handles(eraseStreamer)
  async erase({ platformUserId, isDryRun }: EraseStreamerRequest): Promise<EraseStreamerReply> {
    return this.streamers.erase(platformUserId, isDryRun);
  }
}

function toMessage(streamer: Streamer): StreamerMessage {
  const { id, platformUsername, platformId, streaming, disabled, createdAt, updatedAt } = streamer;
  return {
    id,
    platformUsername,
    platformId,
    streaming,
    disabled,
    createdAt: createdAt.getTime(),
    updatedAt: updatedAt.getTime(),
  };
}
