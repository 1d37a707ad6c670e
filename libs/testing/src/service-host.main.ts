import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  createLogger,
  exitOnUnexpectedErrors,
  Health,
  loadConfig,
  Registry,
  startService,
  type ProcessVariables,
  type RunningService,
  type ServiceDefinition,
} from '@stream-events/service';
import type { HostReply, HostRequest } from './service-host.js';

// Main module of the host process. Starts and stops services on request, each as `runService` would.

const running = new Map<number, RunningService>();

exitOnUnexpectedErrors(createLogger('service-host', 'warn'), () => setTimeout(() => process.exit(70), 100));
process.on('disconnect', () => process.exit(70));
process.on('message', (request: HostRequest) => {
  handle(request).then(
    () => reply({ id: request.id }),
    (error: unknown) =>
      reply({ id: request.id, error: error instanceof Error ? String(error.stack) : String(error) }),
  );
});

function reply(message: HostReply): void {
  process.send?.(message);
}

async function handle(request: HostRequest): Promise<void> {
  if (request.action === 'stop') {
    const service = running.get(request.startedBy);
    running.delete(request.startedBy);
    if (!service) throw new Error('the service is gone: the host process ended after an unexpected error');
    await service.close();
    return;
  }
  const definition = await loadDefinition(request.app);
  const config = loadConfig(definition.variables, request.environment);
  const shell = {
    config,
    logger: createLogger(definition.name, config.LOG_LEVEL),
    health: new Health(),
    metrics: new Registry(),
  };
  running.set(
    request.id,
    await startService(definition, shell, { host: config.HOST, port: config.ADMIN_PORT }),
  );
}

async function loadDefinition(app: string): Promise<ServiceDefinition<ProcessVariables>> {
  const file = pathToFileURL(resolve('apps', app, `dist/${app}.app.js`)).href;
  const exported = Object.values((await import(file)) as Record<string, { name?: unknown; start?: unknown }>);
  const definition = exported.find(({ name, start }) => name === app && typeof start === 'function');
  if (!definition) throw new Error(`${file} exports no service definition named ${app}`);
  return definition as ServiceDefinition<ProcessVariables>; // Safe cast: services export such definitions.
}
