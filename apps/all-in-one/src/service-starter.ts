import {
  closeAll,
  Health,
  loadConfig,
  measureHealth,
  Registry,
  startTelemetry,
  type RunningService,
  type ServiceDefinition,
  type Variables,
} from '@stream-events/service';
import { collectDefaultMetrics } from 'prom-client';

/** Starts services in this process with a shared health report and metrics registry. */
export class ServiceStarter {
  private readonly health = new Health();
  private readonly metrics = new Registry();
  private readonly stops: (() => Promise<void>)[] = [];

  constructor(private readonly logLevel: string) {
    collectDefaultMetrics({ register: this.metrics });
    measureHealth(this.health, this.metrics);
  }

  async start<V extends Variables, R extends RunningService>(
    definition: ServiceDefinition<V, R>,
    environment: NodeJS.ProcessEnv,
  ): Promise<R> {
    const config = loadConfig(definition.variables, environment);
    const { logger, tracing } = await startTelemetry(definition, environment, this.logLevel);
    if (tracing) this.onStop(() => tracing.close());
    const service = await definition.start({
      config,
      logger,
      health: this.health,
      metrics: this.metrics,
      tracing,
    });
    this.onStop(() => service.close());
    return service;
  }

  /** Adds a step to run on `stop`. */
  onStop(stop: () => Promise<void>): void {
    this.stops.push(stop);
  }

  /** Stops everything in reverse order: the services that cause events stop before the services that receive and store events. */
  async stop(): Promise<void> {
    this.health.markStopping();
    await closeAll(this.stops.splice(0).reverse());
  }
}
