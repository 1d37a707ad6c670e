import { Controller } from '@nestjs/common';
import {
  createErasure,
  getErasure,
  listErasedUsers,
  listErasures,
  ServiceError,
  wereMessagesErased,
  type CreateErasureRequest,
  type EmptyRequest,
  type ErasureMessage,
  type ErasureRequest,
  type ListErasedUsersReply,
  type ListErasedUsersRequest,
  type ListErasuresReply,
  type WereMessagesErasedReply,
  type WereMessagesErasedRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { UserHashKey } from '../store/user-hash-key.js';
import type { Erasure } from './erasure.entity.js';
import { ErasedMessagesRepository } from './erased-messages.repository.js';
import { ErasuresRepository } from './erasures.repository.js';

@Controller()
export class ErasuresController {
  constructor(
    private readonly erasures: ErasuresRepository,
    private readonly erasedMessages: ErasedMessagesRepository,
    private readonly hashKey: UserHashKey,
  ) {}

  @Handles(createErasure)
  async create(request: CreateErasureRequest): Promise<ErasureMessage> {
    const { platformUserId = null, isDryRun } = request;
    const userHash = platformUserId === null ? request.userHash : this.hashKey.hasher.hash(platformUserId);
    if (userHash === undefined) throw new ServiceError('invalid', 'The request names no user.');
    return toMessage(await this.erasures.create({ platformUserId, userHash }, isDryRun));
  }

  @Handles(getErasure)
  async get({ id }: ErasureRequest): Promise<ErasureMessage> {
    const erasure = await this.erasures.find(id);
    if (!erasure) throw new ServiceError('not_found', `There is no erasure ${id}.`);
    return toMessage(erasure);
  }

  @Handles(listErasures)
  async list(_request: EmptyRequest): Promise<ListErasuresReply> {
    return { erasures: (await this.erasures.list()).map(toMessage) };
  }

  @Handles(listErasedUsers)
  async listUsers({ endedSince }: ListErasedUsersRequest): Promise<ListErasedUsersReply> {
    return { ...(await this.erasures.listUsers(endedSince)), hashKey: this.hashKey.sealed };
  }

  @Handles(wereMessagesErased)
  async wereErased({ epoch, from, to }: WereMessagesErasedRequest): Promise<WereMessagesErasedReply> {
    return { wereErased: await this.erasedMessages.hasAll(epoch, from, to) };
  }
}

function toMessage(erasure: Erasure): ErasureMessage {
  const { id, platformUserId, userHash, isDryRun, stage, progress, counts, createdAt, endedAt, error } =
    erasure;
  return {
    id,
    platformUserId,
    userHash,
    isDryRun,
    stage,
    progress,
    counts,
    createdAt: createdAt.getTime(),
    endedAt: endedAt?.getTime() ?? null,
    error,
  };
}
