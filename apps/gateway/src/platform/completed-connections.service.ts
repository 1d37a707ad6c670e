import { Inject, Injectable } from '@nestjs/common';
import { parseConnectionReport } from '@stream-events/contracts';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { AuditLog } from '../audit-log/audit-log.service.js';

const somebody = { id: null, username: null, address: null };

/**
 * Adds to the audit log that users have completed connections: this happens on the platform's page, and not in a request to a gateway.
 * The entry `connection.started` shows who asked for the consent.
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

  /** Takes a report of a connector. Ignores any other text. */
  learn(text: string): void {
    const report = parseConnectionReport(text);
    if (!report) {
      this.failures.warn(
        'ignored an invalid report of a completed connection, the audit log has no entry for it',
        {},
      );
      return;
    }
    const { connectionId: objectId, auditEntryId: id } = report;
    this.audit.record({ action: 'connection.completed', by: somebody, objectId, id });
  }
}
