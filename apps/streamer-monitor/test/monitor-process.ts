import { natsUsers, type Contract } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import {
  createLogger,
  Health,
  loadConfig,
  Registry,
  tracingVariables,
  type RunningService,
} from '@stream-events/service';
import type { TestDatabase, TestNats } from '@stream-events/testing';
import { startTestNats } from '@stream-events/testing';
import { streamerMonitor } from '../src/streamer-monitor.app.js';

/** A running instance of the streamer monitor. */
export interface MonitorInstance extends RunningService {
  health: Health;
  metrics: Registry;
}

export async function startMonitor(database: TestDatabase, nats: TestNats): Promise<MonitorInstance> {
  const health = new Health();
  const metrics = new Registry();
  const service = await streamerMonitor.start({
    config: {
      HOST: '127.0.0.1',
      ADMIN_PORT: 0,
      METRICS_TOKEN: undefined,
      DATABASE_URL: database.urlFor('streamer_monitor'),
      NATS_URL: [nats.urlFor('streamer-monitor')],
      PLATFORM: 'simulator',
      LOG_LEVEL: 'silent',
      ...loadConfig(tracingVariables, {}),
    },
    logger: createLogger('test', 'silent'),
    health,
    metrics,
  });
  return { health, metrics, close: () => service.close() };
}

export function startMonitorNats(): Promise<TestNats> {
  return startTestNats(Object.values(natsUsers));
}

/** Sends requests as a NATS user, by default the gateway's. */
export class Caller {
  private constructor(private readonly client: RequestClient) {}

  static async connect(nats: TestNats, user = 'gateway'): Promise<Caller> {
    const client = new RequestClient({ urls: [nats.urlFor(user)], name: user });
    await client.connect();
    return new Caller(client);
  }

  /** Waits long enough for the service's own reply, which it sends even when it gives up. */
  ask<Request extends object, Reply extends object>(
    contract: Contract<Request, Reply>,
    request: Request,
  ): Promise<Reply> {
    return this.client.request({ ...contract, timeoutMs: 30_000 }, request);
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** Adds up a metric's values with these labels. */
export async function metricOf(
  metrics: Registry,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const metric = await metrics.getSingleMetric(name)?.get();
  const matching = (metric?.values ?? []).filter((value) =>
    Object.entries(labels).every(([label, expected]) => value.labels[label] === expected),
  );
  return matching.reduce((sum, { value }) => sum + value, 0);
}
