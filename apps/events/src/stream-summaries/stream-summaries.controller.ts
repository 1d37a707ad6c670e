import { Controller } from '@nestjs/common';
import {
  summarizeStream,
  type StreamSummaryMessage,
  type SummarizeStreamRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { StreamSummaries } from './stream-summaries.service.js';

@Controller()
export class StreamSummariesController {
  constructor(private readonly summaries: StreamSummaries) {}

  @Handles(summarizeStream)
  async summarize(request: SummarizeStreamRequest): Promise<StreamSummaryMessage> {
    return this.summaries.summarize(request);
  }
}
