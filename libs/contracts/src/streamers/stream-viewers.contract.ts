import { Type } from 'class-transformer';
import { IsInt, IsNumber, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { defineContract } from '../contract.js';
import { StreamHistoryRequest, StreamMessage } from './streams.contract.js';

export class StreamViewersReply {
  @IsObject()
  @ValidateNested()
  @Type(() => StreamMessage)
  stream!: StreamMessage;

  /** Most viewers at one time; null if there are no samples, or if the stream started more than 400 days ago. */
  @IsOptional()
  @IsInt()
  peak!: number | null;

  /** Average viewers, weighted by the time between samples; null if `peak` is null. */
  @IsOptional()
  @IsNumber()
  average!: number | null;
}

/** Returns a stream with its peak and average number of viewers. */
export const getStreamViewers = defineContract({
  subject: 'request.streamer-monitor.get-stream-viewers',
  request: StreamHistoryRequest,
  reply: StreamViewersReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});
