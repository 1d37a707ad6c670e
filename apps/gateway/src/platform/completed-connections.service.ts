import { Inject, Injectable } from '@nestjs/common';
import { parseConnectionReport } from '@stream-events/contracts';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { AuditLog } from '../audit-log/audit-log.service.js';

const somebody = { id: null, username: null, address: null };

/**
 * Adds completed connections to the audit log. The entries name no user, because the person who gives consent is a user of the platform and
 * not of this service. The entry `connection.started` names the owner who started the connection.
 */
@Injectable()
export class CompletedConnections {
  private readonly failures: FailureLog;

  constructor(
    private readonly audit: AuditLog,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
  }

  /** Handles a connector's report of a completed connection. Logs and ignores invalid text. */
  learn(text: string): void {
    const report = parseConnectionReport(text);
    if (!report) {
      this.failures.warn(
        'ignored an invalid report of a completed connection, so the audit log has no entry for this connection',
        {},
      );
      return;
    }
    const { connectionId: objectId, auditEntryId: id } = report;
    this.audit.record({ action: 'connection.completed', by: somebody, objectId, id });
  }
}
