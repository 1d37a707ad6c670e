import { Controller } from '@nestjs/common';
import { callPlatform, type CallPlatformReply, type CallPlatformRequest } from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { ClientCalls } from './client-calls.service.js';

@Controller()
export class ClientCallsController {
  constructor(private readonly calls: ClientCalls) {}

  @Handles(callPlatform)
  call(request: CallPlatformRequest): Promise<CallPlatformReply> {
    return this.calls.call(request);
  }
}
