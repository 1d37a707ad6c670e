import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { NatsContext } from '@nestjs/microservices';
import { errorCatalogue, ServiceError, type ErrorMessage } from '@stream-events/contracts';
import { FailureLog, type FailureLogger } from '@stream-events/service';
import type { MsgHdrs } from '@nats-io/transport-node';
import { throwError, type Observable } from 'rxjs';
import { correlationHeader } from './correlation.js';

/** The part of pino's logger that the responder uses. */
export interface ErrorLogger extends FailureLogger {
  error(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

/** Logs a failed request, and replies with the error's code. Errors other than ServiceError become `internal`. */
@Catch()
export class ErrorResponder implements ExceptionFilter<unknown> {
  private readonly refusals: FailureLog;

  /** @param translate turns errors from the service's libraries, such as the database's, into a ServiceError */
  constructor(
    private readonly logger: ErrorLogger,
    private readonly translate: (error: unknown) => unknown,
  ) {
    this.refusals = new FailureLog(logger);
  }

  catch(thrown: unknown, host: ArgumentsHost): Observable<never> {
    const exception = this.translate(thrown);
    const context = host.switchToRpc().getContext<NatsContext>();
    const error =
      exception instanceof ServiceError
        ? exception
        : new ServiceError('internal', 'The service failed unexpectedly. Its logs have the details.', {
            cause: exception,
          });
    const headers = context.getHeaders() as MsgHdrs | undefined; // Safe cast: the NATS transport passes the message's headers.
    const details = {
      subject: context.getSubject(),
      correlationId: headers?.get(correlationHeader),
      code: error.code,
      err: error.cause ?? error,
    };
    // In an outage, hundreds of requests per second fail for the same reason, so limit these log lines.
    if (error.code === 'unavailable')
      this.refusals.warn('requests from other services failed: unavailable', details);
    else this.logger[errorCatalogue[error.code].logLevel](details, 'request failed');
    const message: ErrorMessage = error.toMessage();
    return throwError(() => message);
  }
}
