import { collectDefaultMetrics, Registry } from 'prom-client';
import { startAdminServer } from './admin-server.js';
import { ConfigError, loadConfig, type ConfigOf, type Variable, type Variables } from './config.js';
import { Health } from './health.js';
import { createLogger, type Logger } from './logger.js';

/** What the shell hands a service when it starts. */
export interface Shell<Config> {
  config: Config;
  logger: Logger;
  health: Health;
  metrics: Registry;
}

/** A started service. */
export interface RunningService {
  /** Finishes what is in flight and stops. */
  close(): Promise<void>;
}

/** A service: its name, its configuration and how it starts. `main.ts` runs it, all-in-one starts it beside others. */
export interface ServiceDefinition<V extends Variables, R extends RunningService = RunningService> {
  name: string;
  variables: V;
  start(shell: Shell<ConfigOf<V>>): Promise<R>;
}

/** Declares a service; exists so that its types are inferred and kept. */
export function defineService<V extends Variables, R extends RunningService>(
  definition: ServiceDefinition<V, R>,
): ServiceDefinition<V, R> {
  return definition;
}

/** What every service that runs as a process of its own is configured with. */
export type ProcessVariables = Variables & {
  HOST: Variable<string>;
  ADMIN_PORT: Variable<number>;
  LOG_LEVEL: Variable<string>;
};

// An orchestrator kills after 30 s by default (Kubernetes): what is not done by then is cut by us, with a word.
const shutdownTimeoutMs = 25_000;

/**
 * Runs a service as this process: configuration from the environment (all faults at once, exit code 2), health and
 * metrics on `ADMIN_PORT`, and an orderly end on SIGTERM and SIGINT.
 */
export async function runService<V extends ProcessVariables>(
  definition: ServiceDefinition<V>,
): Promise<void> {
  const config = loadConfigOrExit(definition.variables);
  const { HOST, ADMIN_PORT, LOG_LEVEL } = loadConfig<ProcessVariables>(definition.variables, process.env);
  const logger = createLogger(definition.name, LOG_LEVEL);
  const shell = { config, logger, health: new Health(), metrics: new Registry() };
  collectDefaultMetrics({ register: shell.metrics });
  exitOnUnexpectedErrors(logger, () => void exitAfterFlush(logger, 1));
  try {
    const service = await startService(definition, shell, { host: HOST, port: ADMIN_PORT });
    logger.info({ adminPort: service.adminPort }, 'service started');
    onceStopped(logger, () => service.close());
  } catch (error) {
    logger.fatal({ err: error }, 'service could not start');
    await exitAfterFlush(logger, 1);
  }
}

/** Starts a service, then serves its health and metrics. `close` stops both. */
export async function startService<V extends Variables>(
  definition: ServiceDefinition<V>,
  shell: Shell<ConfigOf<V>>,
  admin: { host: string; port: number },
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

// Ctrl-C reaches a process under npm twice: from the terminal and from npm. A person takes longer for the second.
const repeatedSignalMs = 1_000;

/**
 * Runs `stop` once, at the first SIGTERM or SIGINT, then exits; a second signal later or the time limit exits at once.
 *
 * @returns what does the same with an exit code of the caller's choice
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
      logger.error({ timeoutMs }, 'service did not stop in time: exiting with work in flight');
      void exitAfterFlush(logger, 1);
    }, timeoutMs);
    timer.unref();
    stop().then(
      () => exitAfterFlush(logger, exitCode),
      (error: unknown) => {
        logger.error({ err: error }, 'service failed while stopping');
        return exitAfterFlush(logger, 1);
      },
    );
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    logger.info({ signal }, 'service is stopping');
    end(0);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return end;
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

/** A state that nobody planned for is not worth keeping: logs it and ends, for the supervisor to start a clean process. */
export function exitOnUnexpectedErrors(logger: Logger, end: () => void): void {
  let isEnding = false;
  const onError = (error: unknown): void => {
    logger.fatal({ err: error }, 'unexpected error');
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
