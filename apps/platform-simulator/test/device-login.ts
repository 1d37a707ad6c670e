import type { Reply, SimulatorSetup } from './simulator-setup.js';

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
