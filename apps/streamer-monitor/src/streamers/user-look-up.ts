import { Injectable } from '@nestjs/common';
import { lookUpUsers, ServiceError, type PlatformUserMessage } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';

@Injectable()
export class UserLookUp {
  constructor(private readonly client: RequestClient) {}

  /** @throws ServiceError `invalid` when no user has the name, `unavailable` when the platform does not respond */
  async findByName(platformUsername: string): Promise<PlatformUserMessage> {
    const login = platformUsername.toLowerCase();
    const { users } = await this.lookUp(login);
    const user = users.find((candidate) => candidate.login.toLowerCase() === login);
    if (!user)
      throw ServiceError.onField('platform_username', `The platform has no user "${platformUsername}".`);
    return user;
  }

  private async lookUp(login: string): Promise<{ users: PlatformUserMessage[] }> {
    try {
      return await this.client.request(lookUpUsers, { ids: [], logins: [login], priority: 'interactive' });
    } catch (error) {
      // The connector rejects malformed names, and no user can have one.
      if (error instanceof ServiceError && error.code === 'invalid') return { users: [] };
      throw error;
    }
  }
}
