import { Controller, Delete, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  discardParkedMessage,
  getParkedMessage,
  listParkedMessages,
  retryParkedMessage,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { Answers, DescribesId, RefusesWith, RequiresToken } from '../api-description/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { ListLinks } from '../paging/list-links.js';
import { PageParameters } from '../paging/page-parameters.decorator.js';
import { ParameterFaults, parsePage } from '../paging/page-parameters.js';
import { AllowAccess } from '../users/access.guard.js';
import {
  ParkedMessagePage,
  ParkedMessageRecord,
  RetryReply,
  toParkedMessageItem,
  toParkedMessageRecord,
} from './parked-messages.dto.js';

/** What the cursors of the list are bound to. */
const list = 'parked-messages';

const forbidden = { forbidden: 'The token is not an owner’s' };
const missing = { ...forbidden, not_found: 'No message is parked under this id' };

@ApiTags('Parked messages')
@AllowAccess('owner')
@Controller('api/v1/parked-messages')
export class ParkedMessagesController {
  constructor(
    private readonly client: RequestClient,
    private readonly links: ListLinks,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List parked messages, newest first',
    description:
      'Owners only. Events that the database refused for their content, without their payloads. Follow `next` until it is null.',
  })
  @PageParameters('Parked messages')
  @Answers(200, 'A page of parked messages', { type: ParkedMessagePage })
  @RequiresToken()
  @RefusesWith({ ...forbidden, invalid: 'A parameter is wrong: page_size or cursor' })
  async list(
    @Query() parameters: Record<string, string>,
    @Req() request: FastifyRequest,
  ): Promise<ParkedMessagePage> {
    const faults = new ParameterFaults();
    const { pageSize, position } = parsePage(parameters, list, faults);
    faults.throwIfAny();
    const page = await this.client.request(listParkedMessages, {
      pageSize,
      ...(position && { before: position.id }),
    });
    return {
      next:
        page.next && this.links.of(request, list, { direction: 'older', id: page.next, inclusive: false }),
      results: page.messages.map(toParkedMessageItem),
    };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Show a parked message with its payload', description: 'Owners only.' })
  @DescribesId('The id of the parked message')
  @Answers(200, 'The parked message', { type: ParkedMessageRecord })
  @RequiresToken()
  @RefusesWith(missing)
  async show(@Id() id: string): Promise<ParkedMessageRecord> {
    return toParkedMessageRecord(await this.client.request(getParkedMessage, { id }));
  }

  @Post(':id/retry')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Store a parked message',
    description:
      'Owners only. For when the cause is gone. The event keeps its id and stands in the list where it belongs by the time ' +
      'it was received; it is published like any other. Trying twice, or two at once, stores it once.',
  })
  @DescribesId('The id of the parked message')
  @Answers(200, 'It is an event now, and parked no more', { type: RetryReply })
  @RequiresToken()
  @RefusesWith({ ...missing, conflict: 'The database refuses it again, and why; it stays parked' })
  async retry(@Id() id: string): Promise<RetryReply> {
    const { id: eventId, outcome } = await this.client.request(retryParkedMessage, { id });
    return { outcome, id: eventId };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Discard a parked message',
    description:
      'Owners only. It is gone for good; should the platform deliver the same message again, it is parked again.',
  })
  @DescribesId('The id of the parked message')
  @Answers(204, 'Discarded')
  @RequiresToken()
  @RefusesWith(missing)
  async discard(@Id() id: string): Promise<void> {
    await this.client.request(discardParkedMessage, { id });
  }
}
