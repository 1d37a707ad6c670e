import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { defineService, NestLogger, ShellModule, type RunningService } from '@stream-events/service';
import { ApiFaultsService } from './behavior/api-faults.service.js';
import { ControlAccess } from './http/control-access.js';
import { variables } from './platform-simulator.config.js';
import { PlatformSimulatorModule } from './platform-simulator.module.js';
import { ScenarioPlayer } from './simulator/scenario-player.service.js';
import { SocketServer } from './transports/socket-server.service.js';

export {
  controlSecretPath,
  recordSimulator,
  removeSimulatorRecord,
} from './command-line/running-simulator.js';
export { simulatedTypes, type SimulatedType } from './world/lively-events.js';

/** `url` is the base URL, such as `http://127.0.0.1:8100`. */
export interface RunningPlatformSimulator extends RunningService {
  url: string;
}

// Maximum request body, large enough to test events that exceed any receiver's limit.
const bodyLimitBytes = 4 * 1024 * 1024;

@Module({})
class RootModule {}

/** A simulated streaming platform for development, demos, and tests. */
export const platformSimulator = defineService({
  name: 'platform-simulator',
  variables,
  async start(shell): Promise<RunningPlatformSimulator> {
    const { config, logger } = shell;
    const imports = [ShellModule.register(shell), PlatformSimulatorModule];
    const app = await NestFactory.create<NestFastifyApplication>(
      { module: RootModule, imports },
      new FastifyAdapter({ bodyLimit: bodyLimitBytes }),
      { logger: new NestLogger(logger), abortOnError: false },
    );
    const fastify = app.getHttpAdapter().getInstance();
    app.get(ApiFaultsService).register(fastify);
    app.get(ControlAccess).register(fastify);
    app.get(SocketServer).attach(fastify.server);
    await app.listen(config.PORT, config.HOST);
    const url = await app.getUrl();
    const scenario = config.SIMULATOR_SCENARIO;
    if (scenario !== 'none') app.get(ScenarioPlayer).play({ name: scenario });
    logger.info({ url, rate: config.SIMULATOR_RATE }, 'SIMULATED streaming platform is listening');
    // Nest stops the generator and the retries first, then waits for deliveries in flight, then closes the server.
    return { url, close: () => app.close() };
  },
});
