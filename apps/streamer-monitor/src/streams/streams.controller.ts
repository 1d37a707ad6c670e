import { Controller } from '@nestjs/common';
import {
  findLiveStreams,
  getLatestStream,
  getStreamHistory,
  getStreamViewers,
  listStreams,
  ServiceError,
  type FindLiveStreamsReply,
  type FindLiveStreamsRequest,
  type ListStreamsReply,
  type ListStreamsRequest,
  type StreamerRequest,
  type StreamHistoryReply,
  type StreamHistoryRequest,
  type StreamMessage,
  type StreamViewersReply,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { StreamListRepository } from './stream-list.repository.js';

@Controller()
export class StreamsController {
  constructor(private readonly streams: StreamListRepository) {}

  @Handles(listStreams)
  async list(request: ListStreamsRequest): Promise<ListStreamsReply> {
    const page = await this.streams.list(request);
    if (!page) throw new ServiceError('not_found', `Streamer ${request.streamerId} does not exist.`);
    return page;
  }

  @Handles(findLiveStreams)
  async findLive({ platformIds }: FindLiveStreamsRequest): Promise<FindLiveStreamsReply> {
    return { streams: await this.streams.findLive(platformIds) };
  }

  @Handles(getLatestStream)
  async getLatest({ id }: StreamerRequest): Promise<StreamMessage> {
    const stream = await this.streams.findLatest(id);
    if (!stream) throw new ServiceError('not_found', `Streamer ${id} does not exist or has no streams.`);
    return stream;
  }

  @Handles(getStreamHistory)
  async getHistory({ streamerId, streamId }: StreamHistoryRequest): Promise<StreamHistoryReply> {
    const samples = await this.streams.readHistory(streamerId, streamId);
    if (!samples) throw new ServiceError('not_found', `Streamer ${streamerId} has no stream ${streamId}.`);
    return { samples };
  }

  @Handles(getStreamViewers)
  async getViewers({ streamerId, streamId }: StreamHistoryRequest): Promise<StreamViewersReply> {
    const found = await this.streams.findWithViewers(streamerId, streamId);
    if (!found) throw new ServiceError('not_found', `Streamer ${streamerId} has no stream ${streamId}.`);
    return found;
  }
}
