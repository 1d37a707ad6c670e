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
  it('asks the real platform, and nobody without credentials', () => {
    expect(settingsOf({ PLATFORM: 'twitch' })).toEqual({
      platform: 'twitch',
      credentials: undefined,
      apiUrl: 'https://api.twitch.tv/helix',
      authUrl: 'https://id.twitch.tv/oauth2',
      eventsubUrl: 'https://api.twitch.tv/helix/eventsub',
      webhook: null,
    });
  });

  it('asks the simulator on this machine, with credentials of its own', () => {
    expect(settingsOf({ PLATFORM: 'simulator' })).toMatchObject({
      credentials: { clientId: 'stream-events' },
      apiUrl: 'http://127.0.0.1:8100/helix',
      authUrl: 'http://127.0.0.1:8100/oauth2',
    });
  });

  it('takes other addresses and credentials', () => {
    const settings = settingsOf({
      PLATFORM: 'twitch',
      PLATFORM_CLIENT_ID: 'id',
      PLATFORM_CLIENT_SECRET: 'secret',
      PLATFORM_API_URL: 'http://api/',
      PLATFORM_AUTH_URL: 'http://auth',
    });

    expect(settings).toMatchObject({
      credentials: { clientId: 'id', clientSecret: 'secret' },
      apiUrl: 'http://api',
      authUrl: 'http://auth',
      eventsubUrl: 'http://api/eventsub',
    });
    expect(settingsOf({ PLATFORM: 'twitch', PLATFORM_EVENTSUB_URL: 'http://sub' }).eventsubUrl).toBe(
      'http://sub',
    );
  });

  it('has a callback when the platform can be told where and with which secret: the first signs', () => {
    const where = { PLATFORM: 'simulator', PUBLIC_URL: 'https://events.example' };
    const secrets = { PLATFORM_WEBHOOK_SECRET: '0123456789,9876543210' };

    expect(settingsOf({ ...where, ...secrets }).webhook).toEqual({
      callback: 'https://events.example/api/v1/platform-events/webhook',
      secret: '0123456789',
    });
    expect(settingsOf(where).webhook).toBeNull();
    expect(settingsOf({ PLATFORM: 'simulator', ...secrets }).webhook).toBeNull();
    expect(settingsOf({ ...where, ...secrets, PLATFORM: 'none' }).webhook).toBeNull();
  });

  it.each(['PLATFORM_CLIENT_ID', 'PLATFORM_CLIENT_SECRET'])('refuses %s alone', (name) => {
    expect(() => settingsOf({ PLATFORM: 'twitch', [name]: 'half' })).toThrow(/go together/);
  });
});
