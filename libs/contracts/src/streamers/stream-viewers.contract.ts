import { Type } from 'class-transformer';
import { IsInt, IsNumber, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { defineContract } from '../contract.js';
import { StreamHistoryRequest, StreamMessage } from './streams.contract.js';

export class StreamViewersReply {
  @IsObject()
  @ValidateNested()
  @Type(() => StreamMessage)
  stream!: StreamMessage;

  /** The most viewers at any time; null when the stream has no samples. */
  @IsOptional()
  @IsInt()
  peak!: number | null;

  /** The average over the time of the stream that has samples; null when the stream has none. */
  @IsOptional()
  @IsNumber()
  average!: number | null;
}

/** Returns a stream with its viewers. */
export const getStreamViewers = defineContract({
  subject: 'request.streamer-monitor.get-stream-viewers',
  request: StreamHistoryRequest,
  reply: StreamViewersReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});
