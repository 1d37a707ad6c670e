import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { NatsContext } from '@nestjs/microservices';
import { errorCatalogue, ServiceError, type ErrorMessage } from '@stream-events/contracts';
import type { MsgHdrs } from '@nats-io/transport-node';
import { throwError, type Observable } from 'rxjs';
import { correlationHeader } from './correlation.js';

/** The part of a logger that is needed here; pino's fits. */
export interface ErrorLogger {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
}

/** Answers a failed request with the error's code; what is not one of our errors is logged and becomes `internal`. */
@Catch()
export class ErrorResponder implements ExceptionFilter<unknown> {
  /** `translate` turns errors of the service's own libraries (its database's, say) into a ServiceError. */
  constructor(
    private readonly logger: ErrorLogger,
    private readonly translate: (error: unknown) => unknown,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): Observable<never> {
    const exception = this.translate(thrown);
    const context = host.switchToRpc().getContext<NatsContext>();
    const error =
      exception instanceof ServiceError
        ? exception
        : new ServiceError('internal', 'The service failed unexpectedly.', { cause: exception });
    const headers = context.getHeaders() as MsgHdrs | undefined; // holds: the NATS transport hands its message's headers on
    this.logger[errorCatalogue[error.code].logLevel](
      {
        subject: context.getSubject(),
        correlationId: headers?.get(correlationHeader),
        code: error.code,
        err: error.cause ?? error,
      },
      'request failed',
    );
    const message: ErrorMessage = error.toMessage();
    return throwError(() => message);
  }
}
