import { Controller, Delete, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { discardDeadLetter, getDeadLetter, listDeadLetters, retryDeadLetter } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { Answers, DescribesId, RefusesWith, RequiresToken } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { ListLinks } from '../paging/list-links.js';
import { PageParameters } from '../paging/page-parameters.decorator.js';
import { ParameterFaults, parsePage } from '../paging/page-parameters.js';
import { AllowAccess } from '../users/access.guard.js';
import {
  DeadLetterPage,
  DeadLetterRecord,
  RetryReply,
  toDeadLetterItem,
  toDeadLetterRecord,
} from './dead-letters.dto.js';

/** What the cursors of the list are bound to. */
const list = 'dead-letters';

const forbidden = { forbidden: 'The token is not an owner’s' };
const missing = { ...forbidden, not_found: 'No message is parked under this id' };

@ApiTags('Dead letters')
@AllowAccess('owner')
@Controller('api/v1/dead-letters')
export class DeadLettersController {
  constructor(
    private readonly client: RequestClient,
    private readonly links: ListLinks,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List dead letters, newest first',
    description:
      'Owners only. Events that the database refused for their content, without their payloads. Follow `next` until it is null.',
  })
  @PageParameters('Dead letters')
  @Answers(200, 'A page of dead letters', { type: DeadLetterPage })
  @RequiresToken()
  @RefusesWith({ ...forbidden, invalid: 'A parameter is wrong: page_size or cursor' })
  async list(
    @Query() parameters: Record<string, string>,
    @Req() request: FastifyRequest,
  ): Promise<DeadLetterPage> {
    const faults = new ParameterFaults();
    const { pageSize, position } = parsePage(parameters, list, faults);
    faults.throwIfAny();
    const page = await this.client.request(listDeadLetters, {
      pageSize,
      ...(position && { before: position.id }),
    });
    return {
      next:
        page.next && this.links.of(request, list, { direction: 'older', id: page.next, inclusive: false }),
      results: page.messages.map(toDeadLetterItem),
    };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Show a dead letter with its payload', description: 'Owners only.' })
  @DescribesId('The id of the dead letter')
  @Answers(200, 'The dead letter', { type: DeadLetterRecord })
  @RequiresToken()
  @RefusesWith(missing)
  async show(@Id() id: string): Promise<DeadLetterRecord> {
    return toDeadLetterRecord(await this.client.request(getDeadLetter, { id }));
  }

  @Post(':id/retry')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Store a dead letter',
    description:
      'Owners only. For when the cause is gone. The event keeps its id and stands in the list where it belongs by the time ' +
      'it was received; it is published like any other. Trying twice, or two at once, stores it once.',
  })
  @DescribesId('The id of the dead letter')
  @Answers(200, 'It is an event now, and parked no more', { type: RetryReply })
  @RequiresToken()
  @RefusesWith({ ...missing, conflict: 'The database refuses it again, and why; it stays parked' })
  async retry(@Id() id: string): Promise<RetryReply> {
    const { id: eventId, outcome } = await this.client.request(retryDeadLetter, { id });
    return { outcome, id: eventId };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Discard a dead letter',
    description:
      'Owners only. It is gone for good; should the platform deliver the same message again, it is parked again.',
  })
  @DescribesId('The id of the dead letter')
  @Answers(204, 'Discarded')
  @RequiresToken()
  @RefusesWith(missing)
  async discard(@Id() id: string): Promise<void> {
    await this.client.request(discardDeadLetter, { id });
  }
}
