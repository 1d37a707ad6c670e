import { Inject, Injectable } from '@nestjs/common';
import { errorCatalogue, type ServiceError } from '@stream-events/contracts';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';

/** The fields that identify a request in the log. `route` is the path pattern, or undefined if no route matches. */
export interface LoggedRequest {
  id: string;
  method: string;
  route: string | undefined;
}

@Injectable()
export class RequestLog {
  private readonly refusals: FailureLog;

  constructor(@Inject(LOGGER) private readonly logger: Logger) {
    this.refusals = new FailureLog(logger);
  }

  noteFailure(error: ServiceError, { id, method, route }: LoggedRequest): void {
    const { logLevel, status } = errorCatalogue[error.code];
    const details = { requestId: id, method, route, status, err: error.cause ?? error };
    // Combine repeated lines: in an outage, thousands of requests per second fail for the same reason.
    if (error.code === 'unavailable') this.refusals.warn('requests failed with 503', details);
    else this.logger[logLevel](details, 'request failed');
  }
}
