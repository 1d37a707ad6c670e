import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { ApiClient } from '@twurple/api';
import { AppTokenAuthProvider, getTokenInfo, RefreshingAuthProvider, revokeToken } from '@twurple/auth';
import { EventSubWsListener } from '@twurple/eventsub-ws';
import { SimulatorSetup } from '../../test/simulator-setup.js';

const clientId = 'an-application';
const clientSecret = 'its-secret';

/**
 * Tests an unmodified popular client library. Twurple has a setting for the socket server's address, but none for the API and OAuth, so the
 * test redirects those requests.
 */
describe('Twurple, unmodified', () => {
  let setup: SimulatorSetup;
  let redirectUri: string;
  const listeners: EventSubWsListener[] = [];

  beforeEach(async () => {
    setup = await SimulatorSetup.start({ SIMULATOR_GRANTS: 'explicit' });
    redirectUri = `${setup.receiver.url}/return`;
    const original = globalThis.fetch;
    jest
      .spyOn(globalThis, 'fetch')
      .mockImplementation((input, init) => original(redirect(String(input), setup.simulator.url), init));
    doNotWaitForLongTimers();
    await setup.call('POST', '/simulator/users', { login: 'mira', id: '77', display_name: 'Mira' });
  });

  afterEach(async () => {
    for (const listener of listeners.splice(0)) listener.stop();
    // Wait until all sockets are closed. If the simulator stopped before it had answered Twurple's close frames, Twurple would reconnect.
    await eventually(async () =>
      expect((await setup.call('GET', '/simulator/sockets')).json.sockets).toEqual([]),
    );
    jest.restoreAllMocks();
    await setup.close();
  });

  /** Gives the user's consent on the authorize page. Returns the code. */
  const consent = async (scope: string): Promise<string> => {
    const form = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope };
    const response = await fetch(`${setup.simulator.url}/oauth2/authorize`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: setup.simulator.url },
      body: new URLSearchParams({ ...form, login: 'mira', decision: 'allow' }),
    });
    return new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? '';
  };

  const logIn = async (scope: string): Promise<RefreshingAuthProvider> => {
    const provider = new RefreshingAuthProvider({ clientId, clientSecret, redirectUri });
    expect(await provider.addUserForCode(await consent(scope))).toBe('77');
    return provider;
  };

  const listen = (authProvider: RefreshingAuthProvider): EventSubWsListener => {
    const url = `${setup.simulator.url.replace('http', 'ws')}/ws`;
    const logger = { minLevel: 'CRITICAL' } as const;
    const apiClient = new ApiClient({ authProvider, logger });
    const listener = new EventSubWsListener({ apiClient, url, logger });
    listeners.push(listener);
    listener.start();
    return listener;
  };

  /** Subscribes to cheers. Resolves when the subscription works. */
  const listenForCheers = async (): Promise<{ listener: EventSubWsListener; bits: number[] }> => {
    const listener = listen(await logIn('bits:read'));
    const bits: number[] = [];
    const created = new Promise<void>((resolve, reject) => {
      listener.onSubscriptionCreateSuccess(() => resolve());
      listener.onSubscriptionCreateFailure((_, error) => reject(error));
    });
    listener.onChannelCheer('77', (event) => bits.push(event.bits));
    await created;
    return { listener, bits };
  };
  const cheer = (bits: number) => setup.send({ type: 'channel.cheer', event: { bits } });
  const disturb = (body: object) => setup.call('POST', '/simulator/sockets', body);

  it('exchanges a code, validates, refreshes after expiry, and revokes', async () => {
    await setup.call('POST', '/simulator/limits', { user_token_seconds: 59 }); // Twurple refreshes a token in its last minute
    const provider = await logIn('bits:read channel:read:polls');
    const refreshed: string[] = [];
    provider.onRefresh((userId) => refreshed.push(userId));
    await setup.call('POST', '/simulator/limits', { user_token_seconds: 14_400 });
    const token = await provider.getAccessTokenForUser('77', ['bits:read']);
    expect(refreshed).toEqual(['77']);
    const { accessToken = '' } = token ?? {};
    expect(await getTokenInfo(accessToken)).toMatchObject({
      clientId,
      userId: '77',
      userName: 'mira',
      scopes: ['bits:read', 'channel:read:polls'],
    });
    await revokeToken(clientId, accessToken);
    await expect(getTokenInfo(accessToken)).rejects.toThrow('Invalid token supplied');
  });

  it('gets an app access token, looks up users and streams, and manages conduits', async () => {
    const authProvider = new AppTokenAuthProvider(clientId, clientSecret);
    const api = new ApiClient({ authProvider });
    expect(await api.users.getUserByName('mira')).toMatchObject({ id: '77', displayName: 'Mira' });
    await setup.call('POST', '/simulator/streams', { user_id: '77', title: 'Hello' });
    expect(await api.streams.getStreamByUserId('77')).toMatchObject({ title: 'Hello', userId: '77' });
    const conduit = await api.eventSub.createConduit(2);
    expect(await (await conduit.update(3)).getShards()).toMatchObject({ data: [] });
    expect((await api.eventSub.getConduits()).map(({ id, shardCount }) => [id, shardCount])).toEqual([
      [conduit.id, 3],
    ]);
    await conduit.delete();
    expect(await api.eventSub.getConduits()).toEqual([]);
  });

  it('receives events over a socket', async () => {
    const { bits } = await listenForCheers();
    await cheer(5);
    await cheer(6);
    await eventually(() => expect(bits).toEqual([5, 6]));
  });

  it('reports a missing scope', async () => {
    const listener = listen(await logIn('channel:read:polls'));
    const failed = new Promise<Error>((resolve) => {
      listener.onSubscriptionCreateFailure((_, error) => resolve(error));
    });
    listener.onChannelSubscription('77', () => {});
    expect((await failed).message).toContain('channel:read:subscriptions');
  });

  it('follows a planned reconnect without a new subscription', async () => {
    const { bits, listener } = await listenForCheers();
    const disconnected = jest.fn();
    listener.onUserSocketDisconnect(disconnected);
    const ready = new Promise<void>((resolve) => listener.onUserSocketReady(() => resolve()));
    await disturb({ action: 'reconnect' });
    await ready;
    await cheer(7);
    await eventually(() => expect(bits).toEqual([7]));
    expect(disconnected).not.toHaveBeenCalled();
    const { requests } = (await setup.call('GET', '/simulator')).json;
    expect(requests).toMatchObject({ 'POST /helix/eventsub/subscriptions': 1 });
  });

  it('connects and subscribes again after a close', async () => {
    const { bits, listener } = await listenForCheers();
    const again = new Promise<void>((resolve) => listener.onSubscriptionCreateSuccess(() => resolve()));
    await disturb({ action: 'close', code: 4000 });
    await again;
    await cheer(8);
    await eventually(() => expect(bits).toEqual([8]));
  });

  it('is told that the user has disconnected the application', async () => {
    const { listener } = await listenForCheers();
    const revoked = new Promise<string>((resolve) => listener.onRevoke((_, status) => resolve(status)));
    await setup.call('DELETE', '/simulator/grants', { login: 'mira', client_id: clientId });
    expect(await revoked).toBe('authorization_revoked');
  });
});

/** Unrefs long timers: Twurple's ten-minute timer per message id would keep the test process alive. */
function doNotWaitForLongTimers(): void {
  const original = globalThis.setTimeout;
  const isLong = (ms?: number): boolean => (ms ?? 0) >= 600_000;
  const replacement = (act: () => void, ms?: number): NodeJS.Timeout =>
    isLong(ms) ? original(act, ms).unref() : original(act, ms);
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(replacement);
}

/** Maps the platform's addresses to the simulator. No request leaves this machine. */
function redirect(url: string, simulatorUrl: string): string {
  const mapped = url
    .replace(/^https:\/\/api\.twitch\.tv\//, `${simulatorUrl}/`)
    .replace(/^https:\/\/id\.twitch\.tv\//, `${simulatorUrl}/`);
  if (mapped.startsWith('http://127.0.0.1:')) return mapped;
  throw new Error(`the test does not expect a request to ${url}`);
}
