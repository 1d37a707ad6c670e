import { Controller, Delete, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { discardDeadLetter, getDeadLetter, listDeadLetters, retryDeadLetter } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Answers, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { ListLinks } from '../paging/list-links.js';
import { PageParameters } from '../paging/page-parameters.decorator.js';
import { ParameterFaults, parsePage } from '../paging/page-parameters.js';
import { CurrentActor, type Actor } from '../access/caller.js';
import {
  DeadLetterPage,
  DeadLetterRecord,
  RetryReply,
  toDeadLetterItem,
  toDeadLetterRecord,
} from './dead-letters.dto.js';

/** Binds cursors to this list. Other lists reject them. */
const list = 'dead-letters';

const missing = { not_found: 'The dead letter does not exist' };

@ApiTags('Dead letters')
@AllowAccess('owner')
@Controller('api/v1/dead-letters')
export class DeadLettersController {
  constructor(
    private readonly client: RequestClient,
    private readonly links: ListLinks,
    private readonly audit: AuditLog,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listDeadLetters',
    summary: 'List dead letters, newest first',
    description:
      'Owners only. Lists the events that the service accepted but cannot store, without their payloads. ' +
      'Follow `next` until it is null.',
  })
  @PageParameters('Dead letters')
  @Answers(200, 'A page of dead letters', { type: DeadLetterPage })
  @RefusesWith({ invalid: '`page_size` or `cursor` is invalid' })
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
  @ApiOperation({
    operationId: 'getDeadLetter',
    summary: 'Get a dead letter with its payload',
    description: 'Owners only.',
  })
  @DescribesId('The id of the dead letter')
  @Answers(200, 'The dead letter', { type: DeadLetterRecord })
  @RefusesWith(missing)
  async show(@Id() id: string): Promise<DeadLetterRecord> {
    return toDeadLetterRecord(await this.client.request(getDeadLetter, { id }));
  }

  @Post(':id/retry')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'retryDeadLetter',
    summary: 'Retry a dead letter',
    description:
      'Owners only. First remove the cause, which `reason` describes. The stored event keeps its id and its time of receipt, and is ' +
      'published like any other event. Repeated or parallel retries store the event only once.',
  })
  @DescribesId('The id of the dead letter')
  @Answers(200, 'The event is stored, and the dead letter is deleted', { type: RetryReply })
  @RefusesWith({
    ...missing,
    conflict:
      'The event still cannot be stored. `detail` contains the reason. The dead letter is kept. If its message could not be read ' +
      'before but can be read now, a dead letter with the id of the event replaces it',
  })
  async retry(@Id() id: string, @CurrentActor() by: Actor): Promise<RetryReply> {
    const { id: eventId, outcome } = await this.audit.recordReply(
      this.client.request(retryDeadLetter, { id }),
      () => ({ action: 'dead_letter.retried', by, objectId: id }),
    );
    return { outcome, id: eventId };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'discardDeadLetter',
    summary: 'Discard a dead letter',
    description:
      'Owners only. Deletes it permanently. If the platform redelivers the message, it becomes a dead letter again.',
  })
  @DescribesId('The id of the dead letter')
  @Answers(204, 'Discarded')
  @RefusesWith(missing)
  async discard(@Id() id: string, @CurrentActor() by: Actor): Promise<void> {
    await this.audit.recordReply(this.client.request(discardDeadLetter, { id }), () => ({
      action: 'dead_letter.discarded',
      by,
      objectId: id,
    }));
  }
}
