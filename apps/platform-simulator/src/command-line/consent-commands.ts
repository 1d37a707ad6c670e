import type { ApplicationView, DeviceCodeView, GrantView } from '../oauth/simulated-consents.controller.js';
import type { Command } from './command.js';

const clientOption = { client: 'client id; required unless there is exactly one application' };

/** Commands for applications and the scopes that users grant to them. */
export const consentCommands: Readonly<Record<string, Command>> = {
  application: {
    usage: '<client id>',
    words: [1, 1],
    help: 'Registers an application; an application without a secret is a public client',
    options: {
      secret: 'client secret',
      name: 'name on the consent pages',
      redirect: 'address to which users return after consent',
    },
    run: async ({ client, words: [client_id = ''], options }) => {
      const { secret, name, redirect } = options;
      const redirect_uris = redirect === undefined ? undefined : [redirect];
      const body = { client_id, client_secret: secret, name, redirect_uris };
      const { is_public } = await client.call<ApplicationView>('POST', '/applications', body);
      return [`${client_id} is a ${is_public ? 'public' : 'confidential'} client.`];
    },
  },
  devices: {
    help: 'Lists the device codes that no user has approved or denied yet',
    run: async ({ client }) => {
      const { device_codes } = await client.call<{ device_codes: DeviceCodeView[] }>('GET', '/device-codes');
      if (device_codes.length === 0) return ['No device is waiting.'];
      return device_codes.map(
        ({ user_code, client_id, scopes }) => `${user_code}  ${client_id}  ${scopes.join(' ')}`,
      );
    },
  },
  approve: {
    usage: '<user code> <login>',
    words: [2, 2],
    help: 'Approves a device code as the given user',
    run: async ({ client, words: [user_code = '', login = ''] }) => {
      await client.call('POST', '/device-codes', { user_code, login, decision: 'allow' });
      return [`${login} approved ${user_code}.`];
    },
  },
  deny: {
    usage: '<user code>',
    words: [1, 1],
    help: 'Denies a device code',
    run: async ({ client, words: [user_code = ''] }) => {
      await client.call('POST', '/device-codes', { user_code, decision: 'deny' });
      return [`Denied ${user_code}.`];
    },
  },
  grants: {
    help: 'Lists the scopes that users have granted',
    run: async ({ client }) => {
      const { grants } = await client.call<{ grants: GrantView[] }>('GET', '/grants');
      return grants.length === 0 ? ['No user has granted any scope.'] : grants.map(describeGrant);
    },
  },
  grant: {
    usage: '<login> <scopes>',
    words: [2, 2],
    help: 'Grants scopes (separated by commas) to an application',
    options: clientOption,
    run: async ({ client, words: [login = '', scopes = ''], options }) => {
      const body = { login, client_id: options.client, scopes: scopes.split(',') };
      return [describeGrant(await client.call<GrantView>('POST', '/grants', body))];
    },
  },
  disconnect: {
    usage: '<login>',
    words: [1, 1],
    help: 'Disconnects an application from a user: revokes the tokens, and ends the subscriptions that depend on the user',
    options: clientOption,
    run: async ({ client, words: [login = ''], options }) => {
      await client.call('DELETE', '/grants', { login, client_id: options.client });
      return [`${login} disconnected the application.`];
    },
  },
};

function describeGrant({ client_id, user_id, scopes }: GrantView): string {
  return `user ${user_id} → ${client_id}: ${scopes.join(' ')}`;
}
