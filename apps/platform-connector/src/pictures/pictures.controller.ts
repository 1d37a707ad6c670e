import { Controller } from '@nestjs/common';
import {
  connectorStoredUsers,
  getPicture,
  type EraseStoredUserReply,
  type EraseStoredUserRequest,
  type GetPictureReply,
  type GetPictureRequest,
  type ListStoredUsersReply,
  type ListStoredUsersRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { PicturesRepository } from './pictures.repository.js';
import { Pictures } from './pictures.service.js';

@Controller()
export class PicturesController {
  constructor(
    private readonly pictures: Pictures,
    private readonly repository: PicturesRepository,
  ) {}

  @Handles(getPicture)
  async get({ kind, id, knownHash }: GetPictureRequest): Promise<GetPictureReply> {
    const { hash, mediaType, bytes } = await this.pictures.get({ kind, id });
    return { hash, mediaType, bytes: hash === knownHash ? null : bytes.toString('base64') };
  }

  @Handles(connectorStoredUsers.list)
  async listUsers({ after = '' }: ListStoredUsersRequest): Promise<ListStoredUsersReply> {
    return { ids: await this.repository.listUsers(after) };
  }

  @Handles(connectorStoredUsers.erase)
  async eraseUser({ platformUserId, isDryRun }: EraseStoredUserRequest): Promise<EraseStoredUserReply> {
    const pictures = await this.repository.eraseUser(platformUserId, isDryRun);
    return { pictures, replays: 0, rehearsals: 0 };
  }
}
