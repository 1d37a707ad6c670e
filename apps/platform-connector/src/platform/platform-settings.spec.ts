import { callbackOf, fingerprintOf, platforms, simulatorUrls } from '@stream-events/platforms';
import { loadConfig } from '@stream-events/service';
import { variables } from '../platform-connector.config.js';
import { toPlatformSettings, type PlatformSettings } from './platform-settings.js';

function settingsOf(environment: Record<string, string>): PlatformSettings {
  const required = {
    DATABASE_URL: 'postgres://localhost',
    NATS_URL: 'nats://localhost',
    SECRET_KEY: 'a secret key of the tests without commas',
  };
  return toPlatformSettings(loadConfig(variables, { ...required, ...environment }));
}

describe('toPlatformSettings', () => {
  it('uses the real platform’s addresses, and has no credentials by default', () => {
    expect(settingsOf({ PLATFORM: 'twitch' })).toEqual({
      platform: 'twitch',
      definition: platforms.twitch,
      credentials: undefined,
      urls: platforms.twitch.urls,
      transport: null,
      webhook: null,
      webhookFingerprints: [],
    });
  });

  it('uses the simulator’s address and credentials', () => {
    expect(settingsOf({ PLATFORM: 'simulator' })).toMatchObject({
      credentials: { clientId: 'stream-events' },
      urls: simulatorUrls('http://127.0.0.1:8100'),
    });
  });

  it('uses the configured addresses and credentials', () => {
    const settings = settingsOf({
      PLATFORM: 'twitch',
      PLATFORM_CLIENT_ID: 'id',
      PLATFORM_CLIENT_SECRET: 'secret',
      PLATFORM_API_URL: 'http://api/',
      PLATFORM_AUTH_URL: 'http://auth',
      PLATFORM_SOCKET_URL: 'ws://socket/ws',
    });

    expect(settings).toMatchObject({
      credentials: { clientId: 'id', clientSecret: 'secret' },
      urls: {
        api: 'http://api',
        auth: 'http://auth',
        subscriptions: 'http://api/eventsub',
        socket: 'ws://socket/ws',
      },
    });
    expect(settingsOf({ PLATFORM: 'twitch', PLATFORM_EVENTSUB_URL: 'http://sub' }).urls.subscriptions).toBe(
      'http://sub',
    );
  });

  it('has a webhook when PUBLIC_URL and a secret are set; the first secret signs', () => {
    const where = { PLATFORM: 'simulator', PUBLIC_URL: 'https://events.example' };
    const secrets = { PLATFORM_WEBHOOK_SECRET: '0123456789,9876543210' };

    expect(settingsOf({ ...where, ...secrets })).toMatchObject({
      webhook: {
        publicUrl: 'https://events.example',
        callback: callbackOf('https://events.example', fingerprintOf('0123456789')),
        secret: '0123456789',
      },
      webhookFingerprints: ['0123456789', '9876543210'].map(fingerprintOf),
    });
    expect(settingsOf(where).webhook).toBeNull();
    expect(settingsOf({ PLATFORM: 'simulator', ...secrets }).webhook).toBeNull();
    expect(settingsOf({ ...where, ...secrets, PLATFORM: 'none' }).webhook).toBeNull();
  });

  describe('transport', () => {
    const application = { PLATFORM: 'twitch', PLATFORM_CLIENT_ID: 'id', PLATFORM_CLIENT_SECRET: 'secret' };
    const webhook = { PUBLIC_URL: 'https://events.example', PLATFORM_WEBHOOK_SECRET: '0123456789' };

    it.each([
      ['webhook', { ...application, ...webhook }],
      ['conduit', { ...application, ...webhook, PLATFORM_TRANSPORT: 'conduit' }],
      ['websocket', { ...application, ...webhook, PLATFORM_TRANSPORT: 'websocket' }],
      ['conduit', application],
      ['conduit', { ...application, PUBLIC_URL: 'https://events.example' }],
      ['websocket', { PLATFORM: 'twitch', PLATFORM_CLIENT_ID: 'public', ...webhook }],
      [null, { PLATFORM: 'twitch' }],
      [null, { ...application, PLATFORM: 'none', PLATFORM_TRANSPORT: 'conduit' }],
    ])('is %s with %j', (transport, environment) => {
      expect(settingsOf(environment).transport).toBe(transport);
    });

    it.each([
      ['PUBLIC_URL', { ...application, PLATFORM_TRANSPORT: 'webhook' }],
      ['PLATFORM_CLIENT_SECRET', { PLATFORM: 'twitch', PLATFORM_TRANSPORT: 'conduit' }],
      [
        'PLATFORM_CLIENT_SECRET',
        { PLATFORM: 'twitch', PLATFORM_CLIENT_ID: 'public', PLATFORM_TRANSPORT: 'webhook', ...webhook },
      ],
    ])('names %s when it is missing', (name, environment) => {
      expect(() => settingsOf(environment)).toThrow(name);
    });
  });

  it('accepts an application without a secret, and rejects a secret without an application', () => {
    expect(settingsOf({ PLATFORM: 'twitch', PLATFORM_CLIENT_ID: 'id' }).credentials).toEqual({
      clientId: 'id',
      clientSecret: undefined,
    });
    expect(() => settingsOf({ PLATFORM: 'twitch', PLATFORM_CLIENT_SECRET: 'half' })).toThrow(/set both/);
  });
});
