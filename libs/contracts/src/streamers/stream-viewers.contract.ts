import { Type } from 'class-transformer';
import { IsInt, IsNumber, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { defineContract } from '../contract.js';
import { StreamHistoryRequest, StreamMessage } from './streams.contract.js';

export class StreamViewersReply {
  @IsObject()
  @ValidateNested()
  @Type(() => StreamMessage)
  stream!: StreamMessage;

  /** The maximum number of viewers; null when the stream has no samples. */
  @IsOptional()
  @IsInt()
  peak!: number | null;

  /** The average number of viewers, weighted by the time between samples; null when the stream has no samples. */
  @IsOptional()
  @IsNumber()
  average!: number | null;
}

/** Returns a stream with the peak and the average of its viewers. */
export const getStreamViewers = defineContract({
  subject: 'request.streamer-monitor.get-stream-viewers',
  request: StreamHistoryRequest,
  reply: StreamViewersReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});
