import { createLogger, Health, loadConfig, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { platformSimulator, type RunningPlatformSimulator } from '../src/platform-simulator.app.js';
import { WebhookReceiver } from './webhook-receiver.js';

/** Secret of all subscriptions and of the receiver. */
export const secret = 'a secret of the tests';

export const controlSecret = 'the-control-secret-of-the-simulator-tests';

/** A callback on a port where nothing listens. */
export const unreachableCallback = 'http://127.0.0.1:9/nobody';

/** Default subscription type of the tests. */
export const follow = { type: 'channel.follow', version: '2' };

const quietEnvironment = { PORT: '0', SIMULATOR_RATE: '0', SIMULATOR_SEED: 'test', LOG_LEVEL: 'silent' };

const jsonType = { 'content-type': 'application/json' };

/** A response. Which fields `json` has depends on the request. */
export interface Reply {
  status: number;
  headers: Headers;
  json: Record<string, unknown> & {
    data: { id: string; status: string }[];
    responses: { status: number; error?: string }[];
  };
}

/** A simulator without generated events, and a receiver, over real HTTP. */
export class SimulatorSetup {
  /** Headers that the platform's API requires. */
  authorization: Record<string, string> = {};

  private constructor(
    readonly simulator: RunningPlatformSimulator,
    readonly receiver: WebhookReceiver,
  ) {}

  /** Starts the simulator and the receiver, and gets an access token. */
  static async start(environment: Record<string, string> = {}): Promise<SimulatorSetup> {
    const receiver = await WebhookReceiver.start(secret);
    const config = loadConfig(platformSimulator.variables, {
      ...quietEnvironment,
      SIMULATOR_CONTROL_SECRET: controlSecret,
      SIMULATOR_CALLBACK_ORIGINS: [receiver.url, unreachableCallback].join(','),
      ...environment,
    });
    const logger = createLogger(platformSimulator.name, config.LOG_LEVEL);
    const shell = { config, logger, health: new Health(), metrics: new Registry() };
    const simulator = await platformSimulator.start(shell);
    const setup = new SimulatorSetup(simulator, receiver);
    setup.authorization = await setup.authorize('an-application', 'its-secret');
    return setup;
  }

  async authorize(client_id: string, client_secret: string): Promise<Record<string, string>> {
    const form = { client_id, client_secret, grant_type: 'client_credentials' };
    const { json } = await this.call('POST', '/oauth2/token', new URLSearchParams(form));
    return { authorization: `Bearer ${String(json.access_token)}`, 'client-id': client_id };
  }

  async close(): Promise<void> {
    await this.simulator.close();
    await this.receiver.close();
  }

  /** Calls the platform's API with the application's credentials, or the control API with its secret. Sends text and forms unchanged. */
  async call(method: string, path: string, body?: unknown, headers = this.authorization): Promise<Reply> {
    const isRaw = typeof body === 'string' || body instanceof URLSearchParams;
    const response = await fetch(this.simulator.url + path, {
      method,
      headers: {
        ...(path.startsWith('/helix') && headers),
        ...(path.startsWith('/simulator') && { authorization: `Bearer ${controlSecret}` }),
        ...(body !== undefined && !(body instanceof URLSearchParams) && jsonType),
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = (text === '' ? {} : JSON.parse(text)) as Reply['json'];
    return { status: response.status, headers: response.headers, json };
  }

  /** Body of a request to subscribe. */
  subscription(overrides: Record<string, unknown> = {}): Record<string, unknown> {
    const condition = { broadcaster_user_id: '4711', moderator_user_id: '4711' };
    const transport = { method: 'webhook', callback: this.receiver.url, secret };
    return { ...follow, condition, transport, ...overrides };
  }

  /** Subscribes, and waits until the challenge has decided the status. */
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

  send(request: Record<string, unknown> = {}): Promise<Reply> {
    return this.call('POST', '/simulator/notifications', { type: follow.type, ...request });
  }
}

export interface DeviceReply {
  device_code: string;
  expires_in: number;
  interval: number;
  user_code: string;
  verification_uri: string;
}

/** A user's tokens, and the headers for API calls. */
export interface UserLogin {
  accessToken: string;
  refreshToken: string;
  scope: string[];
  headers: Record<string, string>;
}

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** Plays the application in the device code flow, over real HTTP. */
export class DeviceLogin {
  constructor(
    private readonly setup: SimulatorSetup,
    private readonly clientId = 'a-public-application',
  ) {}

  async start(scopes: string): Promise<DeviceReply> {
    const form = new URLSearchParams({ client_id: this.clientId, scopes });
    const { json } = await this.setup.call('POST', '/oauth2/device', form);
    return json as unknown as DeviceReply;
  }

  /** Polls once. */
  poll(device_code: string): Promise<Reply> {
    const form = new URLSearchParams({ client_id: this.clientId, device_code, grant_type: grantType });
    return this.setup.call('POST', '/oauth2/token', form);
  }

  /** Runs the whole flow. The control API makes the user's decision. */
  async logIn(login: string, scopes = ''): Promise<UserLogin> {
    const { user_code, device_code } = await this.start(scopes);
    await this.setup.call('POST', '/simulator/device-codes', { user_code, decision: 'allow', login });
    const { json } = await this.poll(device_code);
    const { access_token, refresh_token, scope } = json as unknown as Record<string, string> & {
      scope: string[];
    };
    return {
      accessToken: String(access_token),
      refreshToken: String(refresh_token),
      scope,
      headers: { authorization: `Bearer ${access_token}`, 'client-id': this.clientId },
    };
  }
}
