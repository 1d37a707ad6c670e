import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import {
  listChannelConsent,
  maxConsentChannels,
  platformIdPattern,
  ServiceError,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { Answers, RefusesWith } from '../http/api-decorators.js';
import { ChannelConsentRecord, toChannelConsentRecord } from './channel-consent.dto.js';

@ApiTags('Platform')
@Controller('api/v1/platform/consent')
export class ChannelConsentController {
  constructor(private readonly client: RequestClient) {}

  @Get()
  @AllowAccess('platform:read')
  @ApiOperation({
    operationId: 'listChannelConsent',
    summary: 'List the event types to which channels are subscribed, and why other types are missing',
    description: 'Returns one entry for each channel, in the order of `channel_ids`.',
  })
  @ApiQuery({
    name: 'channel_ids',
    required: true,
    type: String,
    description: `The ids of 1 to ${maxConsentChannels} channels on the platform, separated by commas`,
    example: '47019283,47019284',
  })
  @Answers(200, 'The consent of the channels', { type: ChannelConsentRecord, isArray: true })
  @RefusesWith({ invalid: '`channel_ids` is missing or invalid' })
  async list(
    @Query('channel_ids') ids: string | undefined,
    @Req() request: FastifyRequest,
  ): Promise<ChannelConsentRecord[]> {
    const order = { channelIds: parseIds(ids) };
    const { channels } = await this.client.request(listChannelConsent, order, { correlationId: request.id });
    return channels.map(toChannelConsentRecord);
  }
}

/** @throws ServiceError `invalid` */
function parseIds(value = ''): string[] {
  const ids = value.split(',');
  if (ids.length <= maxConsentChannels && ids.every((id) => platformIdPattern.test(id))) return ids;
  throw ServiceError.onField(
    'channel_ids',
    `must be the ids of 1 to ${maxConsentChannels} channels on the platform, separated by commas`,
  );
}
