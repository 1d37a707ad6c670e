import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { Answers, RefusesWith } from '../http/api-decorators.js';
import { ListLinks } from '../paging/list-links.js';
import { PageParameters } from '../paging/page-parameters.decorator.js';
import { ParameterFaults, parsePage } from '../paging/page-parameters.js';
import { printAuditActions } from './audit-actions.js';
import { AuditLogPageReply, toAuditEntryRecord } from './audit-log.dto.js';
import { AuditLogRepository } from './audit-log.repository.js';

/** Binds cursors to this list. Other lists reject them. */
const list = 'audit-log';

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
      'or within a minute if it represents several failed logins. Entries are kept for 400 days. An action is also listed ' +
      'if its request got no reply in time or failed unexpectedly, because it may have been carried out. ' +
      `Follow \`next\` until it is null.\n\n${printAuditActions()}`,
  })
  @PageParameters('Entries')
  @Answers(200, 'A page of the audit log', { type: AuditLogPageReply })
  @RefusesWith({
    invalid: '`page_size` or `cursor` is invalid',
  })
  async list(
    @Query() parameters: Record<string, string>,
    @Req() request: FastifyRequest,
  ): Promise<AuditLogPageReply> {
    const faults = new ParameterFaults();
    const page = parsePage(parameters, list, faults);
    faults.throwIfAny();
    const { entries, next, previous } = await this.repository.list(page);
    return {
      next: next && this.links.of(request, list, next),
      previous: previous && this.links.of(request, list, previous),
      results: entries.map(toAuditEntryRecord),
    };
  }
}
