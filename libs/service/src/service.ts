import { collectDefaultMetrics, Registry } from 'prom-client';
import { closeAll } from './close-all.js';
import { startAdminServer, type AdminOptions } from './admin-server.js';
import { ConfigError, loadConfig, type ConfigOf, type Variable, type Variables } from './config.js';
import { FailureLog } from './failure-log.js';
import { Health } from './health.js';
import { createLogger, discardLogs, toLoggedError, type Logger } from './logger.js';
import { measureHealth } from './measure-health.js';
import { startTracing, type Tracing } from './tracing.js';
import { within } from './within.js';

/** What a service receives when it starts. */
export interface Shell<Config> {
  config: Config;
  logger: Logger;
  health: Health;
  metrics: Registry;
  /** Undefined when traces are off. */
  tracing?: Tracing | undefined;
}

export interface RunningService {
  /** Finishes the work in flight, then stops. */
  close(): Promise<void>;
}

/** The definition of a service: its name, its variables, and how to start it. `main.ts` runs one service; all-in-one starts all of them. */
export interface ServiceDefinition<V extends Variables, R extends RunningService = RunningService> {
  name: string;
  variables: V;
  /** Runs the pending migrations of the service's database, and disconnects. Undefined for a service without a database. */
  migrate?(config: ConfigOf<V>): Promise<void>;
  /** Further subcommands of the program, by name. Each returns the text to print. */
  commands?: Record<string, (config: ConfigOf<V>) => Promise<string>>;
  start(shell: Shell<ConfigOf<V>>): Promise<R>;
}

/** Returns the definition unchanged; its purpose is to infer the variables' types. */
export function defineService<V extends Variables, R extends RunningService>(
  definition: ServiceDefinition<V, R>,
): ServiceDefinition<V, R> {
  return definition;
}

/** The variables that every service must declare to run in its own process. */
export type ProcessVariables = Variables & {
  HOST: Variable<string>;
  ADMIN_PORT: Variable<number>;
  METRICS_TOKEN: Variable<string | undefined>;
  LOG_LEVEL: Variable<string>;
};

// How long a stop waits for an unfinished start. A start that takes longer is probably waiting for PostgreSQL or NATS.
const startLimitMs = 10_000;

// How long a stop may take. Kubernetes kills a process 30 s after SIGTERM by default; exiting earlier leaves time to log why.
const shutdownTimeoutMs = 25_000;

/**
 * Runs a service as this process. Reads the configuration from the environment, serves health and metrics on `ADMIN_PORT`, and shuts down
 * cleanly on SIGTERM and SIGINT. If the configuration is invalid, prints every error and exits with code 2.
 *
 * With an argument, runs a single command instead and exits. `migrate` runs the migrations; a deployment runs it before it starts the first
 * instance of a new version. All other commands are in the definition's `commands`.
 */
export async function runService<V extends ProcessVariables>(
  definition: ServiceDefinition<V>,
): Promise<void> {
  const config = loadConfigOrExit(definition.variables);
  const { HOST, ADMIN_PORT, METRICS_TOKEN, LOG_LEVEL } = loadConfig<ProcessVariables>(
    definition.variables,
    process.env,
  );
  const { logger, tracing } = await startTelemetry(definition, process.env, LOG_LEVEL);
  const [command] = process.argv.slice(2);
  if (command !== undefined) await runCommand(command, definition, { config, logger });
  const shell = { config, logger, health: new Health(), metrics: new Registry(), tracing };
  collectDefaultMetrics({ register: shell.metrics });
  measureHealth(shell.health, shell.metrics);
  exitOnUnexpectedErrors(logger, () => void exitAfterFlush(logger, 1));
  let service: RunningService | undefined;
  const admin = { host: HOST, port: ADMIN_PORT, token: METRICS_TOKEN };
  const starting = startService(definition, shell, admin).then((started) => (service = started));
  // Do not wait for the start before installing the signal handlers: a start can take a minute, and the main process of a container ignores
  // a signal that has no handler.
  onceStopped(logger, async () => {
    await within(startLimitMs, starting);
    if (!service) logger.warn('the service did not finish starting in time, exiting');
    await closeAll([() => service?.close(), () => tracing?.close()]);
  });
  try {
    const { adminPort } = await starting;
    logger.info({ adminPort }, 'service started');
  } catch (error) {
    logger.fatal({ err: error }, 'cannot start the service');
    await exitAfterFlush(logger, 1);
  }
}

/**
 * Creates the logger of a service and starts its traces, so that log lines contain trace ids. Logs a warning when the receiver rejects
 * spans.
 */
export async function startTelemetry(
  definition: Pick<ServiceDefinition<Variables>, 'name' | 'variables'>,
  environment: NodeJS.ProcessEnv,
  logLevel: string,
): Promise<{ logger: Logger; tracing: Tracing | undefined }> {
  const onFailure = (err: unknown): void => failureLog.warn('cannot export spans, they are lost', { err });
  const tracing = await startTracing(definition, environment, onFailure);
  const logger = createLogger(definition.name, logLevel, tracing);
  const failureLog = new FailureLog(logger);
  return { logger, tracing };
}

async function runCommand<V extends Variables>(
  command: string,
  definition: ServiceDefinition<V>,
  { config, logger }: Pick<Shell<ConfigOf<V>>, 'config' | 'logger'>,
): Promise<never> {
  const { name, commands = {} } = definition;
  const run = Object.hasOwn(commands, command) ? commands[command] : undefined;
  if (run) {
    try {
      process.stdout.write(`${await run(config)}\n`);
    } catch (error) {
      process.stderr.write(`${name} ${command} failed: ${toLoggedError(error).message}\n`);
      return exitAfterFlush(logger, 1);
    }
    return exitAfterFlush(logger, 0);
  }
  if (command !== 'migrate') {
    const known = ['migrate', ...Object.keys(commands)].join(', ');
    process.stderr.write(
      `${name} has no command ${command}. Run it without arguments to start the service, or with one of these commands: ${known}\n`,
    );
    process.exit(2);
  }
  try {
    await definition.migrate?.(config);
    logger.info('database is migrated');
  } catch (error) {
    logger.fatal({ err: error }, 'cannot migrate the database');
    return exitAfterFlush(logger, 1);
  }
  return exitAfterFlush(logger, 0);
}

/** Starts a service, then serves its health and metrics. `close` stops the service and then the server. */
export async function startService<V extends Variables>(
  definition: ServiceDefinition<V>,
  shell: Shell<ConfigOf<V>>,
  admin: AdminOptions,
): Promise<RunningService & { adminPort: number }> {
  const service = await definition.start(shell);
  const server = await startAdminServer({ ...shell, ...admin });
  return {
    adminPort: server.port,
    close: async () => {
      shell.health.markStopping();
      await service.close();
      await server.close();
    },
  };
}

// Ignore a second signal within this time: under npm, one Ctrl-C arrives twice, from the terminal and from npm. A person needs longer to
// press Ctrl-C again.
const repeatedSignalMs = 1_000;

/**
 * Runs `stop` at the first SIGTERM or SIGINT, or when the terminal is closed, then exits. Exits immediately after the time limit, or at a
 * second signal more than 1 s later.
 *
 * @returns a function that stops in the same way and exits with the given code
 */
export function onceStopped(
  logger: Logger,
  stop: () => Promise<void>,
  timeoutMs = shutdownTimeoutMs,
): (exitCode: number) => void {
  let stoppingSince: number | undefined;
  const end = (exitCode: number): void => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > repeatedSignalMs) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    const timer = setTimeout(() => {
      logger.error({ timeoutMs }, 'service did not stop in time, exiting with work in flight');
      void exitAfterFlush(logger, 1);
    }, timeoutMs);
    timer.unref();
    stop().then(
      () => exitAfterFlush(logger, exitCode),
      (error: unknown) => {
        logger.error({ err: error }, 'cannot stop the service cleanly');
        return exitAfterFlush(logger, 1);
      },
    );
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    logger.info({ signal }, 'stopping the service');
    end(0);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // SIGHUP means that the terminal was closed. Without a terminal, install no handler: it would override `nohup`, which makes the process
  // ignore SIGHUP.
  if (hasTerminal()) {
    process.on('SIGHUP', (signal) => {
      if (process.stderr.isTTY) discardLogs();
      onSignal(signal);
    });
    // Writing to a closed terminal fails. The failure must not end the process before it has stopped cleanly.
    for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  }
  return end;
}

/**
 * Whether this process prints to a terminal. Checks the outputs, because `nohup` redirects the outputs on every system, but the input only
 * on Linux.
 */
function hasTerminal(): boolean {
  return process.stdout.isTTY || process.stderr.isTTY;
}

function loadConfigOrExit<V extends Variables>(variables: V): ConfigOf<V> {
  try {
    return loadConfig(variables, process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

/** Logs an unexpected error and ends the process. The supervisor of the process then starts a new process. */
export function exitOnUnexpectedErrors(logger: Logger, end: () => void): void {
  let isEnding = false;
  const onError = (error: unknown): void => {
    logger.fatal({ err: error }, 'unexpected error, exiting');
    if (!isEnding) end();
    isEnding = true;
  };
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
}

async function exitAfterFlush(logger: Logger, code: number): Promise<never> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 500);
    logger.flush(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  process.exit(code);
}
