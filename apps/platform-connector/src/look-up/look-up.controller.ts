import { Controller, Inject } from '@nestjs/common';
import {
  lookUpStreams,
  lookUpUsers,
  maxLookUp,
  ServiceError,
  type LookUpStreamsReply,
  type LookUpStreamsRequest,
  type LookUpUsersReply,
  type LookUpUsersRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import type { OutboundPlatform } from '@stream-events/platforms';
import { PLATFORM } from '../platform/platform-settings.js';

@Controller()
export class LookUpController {
  constructor(@Inject(PLATFORM) private readonly platform: OutboundPlatform) {}

  @Handles(lookUpUsers)
  async users({ ids, logins, priority }: LookUpUsersRequest): Promise<LookUpUsersReply> {
    if (ids.length + logins.length > maxLookUp)
      throw ServiceError.onField('logins', `must be at most ${maxLookUp}, counted together with ids`);
    return { users: await this.platform.lookUpUsers(ids, logins, priority) };
  }

  @Handles(lookUpStreams)
  async streams({ userIds }: LookUpStreamsRequest): Promise<LookUpStreamsReply> {
    return this.platform.lookUpStreams(userIds);
  }
}
