import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';

export type { Logger } from 'pino';

/** The fields of an error that are logged. Other fields are dropped: the parameters in a database error can contain payloads. */
interface LoggedError {
  type: string;
  message: string;
  stack: string | undefined;
  code?: unknown;
  constraint?: unknown;
  table?: unknown;
  cause?: LoggedError;
}

// Chains of causes are short. The limit ends a chain that refers to itself.
const maxCauses = 5;

/** Reduces an error to the fields that are logged. */
export function toLoggedError(error: unknown, depth = 0): LoggedError {
  if (typeof error !== 'object' || error === null)
    return { type: typeof error, message: String(error), stack: undefined };
  const { name, message, stack, code, constraint, table, cause } = error as Partial<Record<string, unknown>>; // Safe cast: the error is an object.
  return {
    type: String(name),
    message: String(message),
    stack: typeof stack === 'string' ? stack : undefined,
    ...(code !== undefined && { code }),
    ...(constraint !== undefined && { constraint }),
    ...(table !== undefined && { table }),
    ...(cause !== undefined && depth < maxCauses && { cause: toLoggedError(cause, depth + 1) }),
  };
}

// A second line of defense, because no code should log secrets.
const secretPaths = [
  'password',
  'token',
  'auth_token',
  'secret',
  'authorization',
  '*.password',
  '*.token',
  '*.secret',
  '*.authorization',
];

/** Creates the logger of a service. It writes JSON lines to standard error; standard output is for people. */
export function createLogger(service: string, level: string): Logger {
  const serializers = { err: (error: unknown) => toLoggedError(error) };
  return pino(
    { level, base: { service }, redact: secretPaths, serializers },
    pino.destination({ fd: 2, sync: false }),
  );
}

/** Sends Nest's log lines to pino. Nest's own start-up messages become debug lines. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: string): void {
    this.logger.debug({ context }, String(message));
  }

  debug(message: unknown, context?: string): void {
    this.logger.debug({ context }, String(message));
  }

  verbose(message: unknown, context?: string): void {
    this.logger.trace({ context }, String(message));
  }

  warn(message: unknown, context?: string): void {
    this.logger.warn({ context }, String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    const error = message instanceof Error ? message : undefined;
    this.logger.error({ err: error, context: rest.at(-1) }, error?.message ?? String(message));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.logger.fatal({ context: rest.at(-1) }, String(message));
  }
}
