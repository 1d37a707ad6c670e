import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';
import { describeLogLine } from './log-sentences.js';
import type { Tracing } from './tracing.js';

export type { Logger } from 'pino';

/** The fields of an error that are logged. All other fields are dropped, because a database error's parameters can contain payloads. */
interface LoggedError {
  type: string;
  message: string;
  stack: string | undefined;
  code?: unknown;
  constraint?: unknown;
  table?: unknown;
  cause?: LoggedError;
}

// Maximum number of nested causes in a log line. Real chains are shorter; the limit stops the recursion when an error is its own cause.
const maxCauses = 5;

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

// Fields whose values are redacted. This is a second line of defense: no code should log secrets in the first place.
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

/**
 * Creates the logger of a service. It writes JSON lines to standard error (see also `writeLogsAsSentences`); standard output is for people.
 * When traces are on, lines about an HTTP request in a sampled trace contain its `traceId`.
 */
export function createLogger(service: string, level: string, tracing?: Pick<Tracing, 'find'>): Logger {
  const serializers = { err: (error: unknown) => toLoggedError(error) };
  return pino(
    {
      level,
      base: { service },
      redact: secretPaths,
      serializers,
      ...(tracing && { mixin: toMixin(tracing) }),
    },
    standardError(),
  );
}

/** All loggers of the process share one destination. */
let destination: ReturnType<typeof pino.destination> | undefined;

function standardError(): ReturnType<typeof pino.destination> {
  if (destination) return destination;
  destination = pino.destination({ fd: 2, sync: false });
  destination.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return; // pino handles this error
    // Discard further lines, because pino's final flush would retry forever.
    discardLogs();
    if (error.code !== 'EIO' || !process.stderr.isTTY) throw error;
  });
  return destination;
}

/** Writes the lines of all loggers as sentences instead of JSON. For a terminal, where a person reads them. */
export function writeLogsAsSentences(): void {
  const target = standardError();
  const write = target.write.bind(target);
  Object.assign(target, { write: (json: string) => write(describeLogLine(json)) });
}

/**
 * Discards all further log lines. Call this when the terminal was closed: each write then fails with EIO, which pino's final flush would
 * retry forever.
 */
export function discardLogs(): void {
  const ignore = (): void => undefined;
  if (destination)
    Object.assign(destination, { write: ignore, flushSync: ignore, end: ignore, destroy: ignore });
}

/**
 * Adds `traceId` to each line about an HTTP request in a sampled trace. Such a line has the request's id as `requestId` or, in other
 * services, as `correlationId`.
 */
function toMixin(tracing: Pick<Tracing, 'find'>): (fields: object) => object {
  return (fields: { requestId?: unknown; correlationId?: unknown }) => {
    const { requestId, correlationId = requestId } = fields;
    const ids = typeof correlationId === 'string' ? tracing.find(correlationId) : undefined;
    return ids ? { traceId: ids.traceId } : {};
  };
}

/** Sends Nest's log lines to pino. Lines of the level `log`, such as Nest's own start-up messages, become debug lines. */
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
