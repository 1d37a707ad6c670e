import { HostedService, freePort } from '@stream-events/testing';

const controlSecret = 'the-control-secret-of-the-connector-tests';

/** The application that the tests use. */
export const application = { clientId: 'connector-tests', clientSecret: 'of-the-connector-tests' };

interface Reply<Body> {
  status: number;
  json: Body;
}

/** Runs the simulator as a separate service. Offers the calls that an application and a test make. */
export class SimulatedPlatform {
  private authorization: Record<string, string> = {};

  private constructor(private readonly service: HostedService) {}

  /** Starts a simulator that sends only what the test requests. */
  static async start(): Promise<SimulatedPlatform> {
    const service = new HostedService('platform-simulator', {
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      ADMIN_PORT: String(await freePort()),
      LOG_LEVEL: 'warn',
      SIMULATOR_RATE: '0',
      SIMULATOR_SEED: 'connector',
      SIMULATOR_CONTROL_SECRET: controlSecret,
      SIMULATOR_CALLBACK_ORIGINS: 'http://127.0.0.1:9',
    });
    await service.start();
    const platform = new SimulatedPlatform(service);
    const token = await platform.call<{ access_token: string }>(
      'POST',
      `/oauth2/token?${new URLSearchParams({
        client_id: application.clientId,
        client_secret: application.clientSecret,
        grant_type: 'client_credentials',
      }).toString()}`,
    );
    platform.authorization = {
      authorization: `Bearer ${token.json.access_token}`,
      'client-id': application.clientId,
    };
    return platform;
  }

  get url(): string {
    return this.service.url;
  }

  get socketUrl(): string {
    return `${this.url.replace('http', 'ws')}/ws`;
  }

  /** Calls the platform's API as the application, or the simulator's control API below `/simulator`. */
  async call<Body>(method: string, path: string, body?: object): Promise<Reply<Body>> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(path.startsWith('/helix') && this.authorization),
        ...(path.startsWith('/simulator') && { authorization: `Bearer ${controlSecret}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: (text === '' ? {} : JSON.parse(text)) as Body }; // Safe cast: the test knows the reply.
  }

  /** Creates a conduit with one shard, and a subscription to the cheers in channel 77. Returns the conduit's id. */
  async createConduit(): Promise<string> {
    const { json } = await this.call<{ data: { id: string }[] }>('POST', '/helix/eventsub/conduits', {
      shard_count: 1,
    });
    const conduit_id = json.data[0]!.id;
    const condition = { broadcaster_user_id: '77' };
    const transport = { method: 'conduit', conduit_id };
    const body = { type: 'channel.cheer', version: '1', condition, transport };
    const { status } = await this.call('POST', '/helix/eventsub/subscriptions', body);
    if (status !== 202) throw new Error(`the subscription got ${status}`);
    return conduit_id;
  }

  /** Assigns a session to the conduit's only shard. */
  async assignShard(conduit_id: string, session_id: string): Promise<void> {
    const shards = [{ id: '0', transport: { method: 'websocket', session_id } }];
    const { json } = await this.call<{ errors: object[] }>('PATCH', '/helix/eventsub/conduits/shards', {
      conduit_id,
      shards,
    });
    if (json.errors.length > 0) throw new Error(`the shard was not assigned: ${JSON.stringify(json.errors)}`);
  }

  async deleteConduit(id: string): Promise<void> {
    await this.call('DELETE', `/helix/eventsub/conduits?id=${id}`);
  }

  /** Makes a viewer cheer in channel 77. */
  async cheer(bits: number): Promise<void> {
    const event = { broadcaster_user_id: '77', user_id: '1', bits };
    const { status } = await this.call('POST', '/simulator/occurrences', { type: 'channel.cheer', event });
    if (status >= 300) throw new Error(`the cheer got ${status}`);
  }

  /** Disturbs clients' sockets: closes them, for example, or requests a reconnect. */
  async disturb(action: string, more: object = {}): Promise<void> {
    const { status } = await this.call('POST', '/simulator/sockets', { action, ...more });
    if (status !== 200) throw new Error(`${action} got ${status}`);
  }

  async sessions(): Promise<string[]> {
    return (await this.sockets()).map(({ session_id }) => session_id);
  }

  /** Returns, for each open session, whether it waits for a reconnect. */
  async reconnecting(): Promise<boolean[]> {
    return (await this.sockets()).map(({ is_reconnecting }) => is_reconnecting);
  }

  private async sockets(): Promise<{ session_id: string; is_reconnecting: boolean }[]> {
    const { json } = await this.call<{ sockets: { session_id: string; is_reconnecting: boolean }[] }>(
      'GET',
      '/simulator/sockets',
    );
    return json.sockets;
  }

  async setFault(mode: 'ok' | 'down'): Promise<void> {
    await this.call('PATCH', '/simulator', { faults: { api: { mode } } });
  }

  async restart(): Promise<void> {
    await this.service.restart();
  }

  async stop(): Promise<void> {
    await this.service.stop();
  }
}
