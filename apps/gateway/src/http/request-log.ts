import { Inject, Injectable } from '@nestjs/common';
import { errorCatalogue, type ServiceError } from '@stream-events/contracts';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';

/** The fields of a request in the log. `route` is the pattern of its path; undefined if no route matches the path. */
export interface LoggedRequest {
  id: string;
  method: string;
  route: string | undefined;
}

/** Logs failed requests. */
@Injectable()
export class RequestLog {
  private readonly refusals: FailureLog;

  constructor(@Inject(LOGGER) private readonly logger: Logger) {
    this.refusals = new FailureLog(logger);
  }

  noteFailure(error: ServiceError, { id, method, route }: LoggedRequest): void {
    const { logLevel, status } = errorCatalogue[error.code];
    const details = { requestId: id, method, route, status, err: error.cause ?? error };
    // Limit the lines, because thousands of requests per second fail for the same reason in an outage.
    if (error.code === 'unavailable') this.refusals.warn('requests failed with 503', details);
    else this.logger[logLevel](details, 'request failed');
  }
}
