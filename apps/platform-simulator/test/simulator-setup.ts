import { eventually } from '@stream-events/testing';
import { createLogger, Health, loadConfig, Registry } from '@stream-events/service';
import { platformSimulator, type RunningPlatformSimulator } from '../src/platform-simulator.app.js';
import { WebhookReceiver } from './webhook-receiver.js';

/** The secret of every subscription and of the receiver. */
export const secret = 'a secret of the tests';

/** The type that tests subscribe to unless they say otherwise. */
export const follow = { type: 'channel.follow', version: '2' };

/** An answer of the simulator; which members there are depends on what was asked. */
export interface Reply {
  status: number;
  json: Record<string, unknown> & {
    data: { id: string; status: string }[];
    responses: { status: number; body: string }[];
  };
}

/** A silent simulator and a receiver, both over real HTTP, and short words for what tests do with them. */
export class SimulatorSetup {
  private constructor(
    readonly simulator: RunningPlatformSimulator,
    readonly receiver: WebhookReceiver,
  ) {}

  static async start(): Promise<SimulatorSetup> {
    const environment = { PORT: '0', SIMULATOR_RATE: '0', SIMULATOR_SEED: 'test', LOG_LEVEL: 'silent' };
    const config = loadConfig(platformSimulator.variables, environment);
    const logger = createLogger(platformSimulator.name, config.LOG_LEVEL);
    const shell = { config, logger, health: new Health(), metrics: new Registry() };
    return new SimulatorSetup(await platformSimulator.start(shell), await WebhookReceiver.start(secret));
  }

  async close(): Promise<void> {
    await this.simulator.close();
    await this.receiver.close();
  }

  /** Calls the simulator; text is sent as it is. */
  async call(method: string, path: string, body?: unknown): Promise<Reply> {
    const response = await fetch(this.simulator.url + path, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    });
    const text = await response.text();
    return { status: response.status, json: (text === '' ? {} : JSON.parse(text)) as Reply['json'] };
  }

  /** Body of a request for a subscription. */
  subscription(overrides: Record<string, unknown> = {}): Record<string, unknown> {
    const condition = { broadcaster_user_id: '4711', moderator_user_id: '4711' };
    const transport = { method: 'webhook', callback: this.receiver.url, secret };
    return { ...follow, condition, transport, ...overrides };
  }

  /** Subscribes and waits until the challenge has decided the status. */
  async subscribe(overrides?: Record<string, unknown>): Promise<{ id: string; status: string }> {
    const { json } = await this.call('POST', '/helix/eventsub/subscriptions', this.subscription(overrides));
    const id = json.data[0]?.id;
    return eventually(async () => {
      const list = await this.call('GET', '/helix/eventsub/subscriptions');
      const found = list.json.data.find((view) => view.id === id);
      if (!found || found.status.endsWith('_pending')) throw new Error(`${id} is ${found?.status}`);
      return found;
    });
  }

  /** Sends one notification by the control interface. */
  send(request: Record<string, unknown> = {}): Promise<Reply> {
    return this.call('POST', '/simulator/notifications', { type: follow.type, ...request });
  }
}
