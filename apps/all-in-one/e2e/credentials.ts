export const owner = { username: 'owner', password: 'the password of the owner' };

/** Messages are signed with the first secret. The gateway accepts signatures with either secret. */
export const webhookSecrets = ['the first webhook secret', 'the second webhook secret'] as const;

export const secretKey = 'the secret key of the end-to-end tests';

export const controlSecret = 'the-control-secret-of-the-end-to-end-tests';

export const application = {
  PLATFORM_CLIENT_ID: 'end-to-end',
  PLATFORM_CLIENT_SECRET: 'the secret of the application',
};
