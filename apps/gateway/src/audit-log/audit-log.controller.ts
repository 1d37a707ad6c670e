import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import { validate as isUuid } from 'uuid';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { Answers, RefusesWith } from '../http/api-decorators.js';
import { ListLinks } from '../paging/list-links.js';
import { PageParameters } from '../paging/page-parameters.decorator.js';
import { ParameterFaults, parsePage, type Parameters } from '../paging/page-parameters.js';
import { isAuditAction, printAuditActions } from './audit-actions.js';
import { AuditLogPageReply, toAuditEntryRecord } from './audit-log.dto.js';
import { AuditLogRepository, type AuditLogFilter } from './audit-log.repository.js';

@ApiTags('Audit log')
@AllowAccess('owner')
@Controller('api/v1/audit-log')
export class AuditLogController {
  constructor(
    private readonly repository: AuditLogRepository,
    private readonly links: ListLinks,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listAuditLog',
    summary: 'List the audit log, newest first',
    description:
      'Owners only. Shows who did what, to which object, when, and from where. An entry appears within a second of the action, ' +
      'or within a minute if it represents several actions. Entries are kept for 400 days. An action is also listed ' +
      'if its request got no reply in time or failed unexpectedly, because it may have been carried out. ' +
      `Follow \`next\` until it is null.\n\n${printAuditActions()}`,
  })
  @ApiQuery({
    name: 'action',
    required: false,
    description: 'List only entries with this action',
    schema: { type: 'string', example: 'user.disabled' },
  })
  @ApiQuery({
    name: 'user',
    required: false,
    description: 'List only actions of the user with this id',
    schema: { type: 'string', format: 'uuid' },
  })
  @PageParameters('Entries')
  @Answers(200, 'A page of the audit log', { type: AuditLogPageReply })
  @RefusesWith({
    invalid: 'A parameter is invalid, or `cursor` belongs to other filters',
  })
  async list(@Query() parameters: Parameters, @Req() request: FastifyRequest): Promise<AuditLogPageReply> {
    const faults = new ParameterFaults();
    const filter = {
      action: faults.attempt(() => parseAction(parameters.action)),
      userId: faults.attempt(() => parseUser(parameters.user)),
    };
    // Binds cursors to this list and its filters. Other lists reject them.
    const list = JSON.stringify(['audit-log', filter.action ?? null, filter.userId ?? null]);
    const page = parsePage(parameters, list, faults);
    faults.throwIfAny();
    const { entries, next, previous } = await this.repository.list(page, filter);
    return {
      next: next && this.links.of(request, list, next),
      previous: previous && this.links.of(request, list, previous),
      results: entries.map(toAuditEntryRecord),
    };
  }
}

function parseAction(text = ''): AuditLogFilter['action'] {
  if (text === '' || isAuditAction(text)) return text || undefined;
  throw ServiceError.onField('action', 'must be an action of the audit log');
}

function parseUser(text = ''): string | undefined {
  if (text === '' || isUuid(text)) return text.toLowerCase() || undefined;
  throw ServiceError.onField('user', 'must be the id of a user');
}
