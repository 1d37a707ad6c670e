/** The owner of a stack. */
export const owner = { username: 'owner', password: 'the password of the owner' };

/** The webhook secrets. The simulator and the connector use the first one. The gateway accepts both. */
export const webhookSecrets = ['the first webhook secret', 'the second webhook secret'] as const;

export const secretKey = 'the secret key of the end-to-end tests';

/** The secret of the simulator's control API. */
export const controlSecret = 'the-control-secret-of-the-end-to-end-tests';

/** The application that the connector uses at the platform. */
export const application = {
  PLATFORM_CLIENT_ID: 'end-to-end',
  PLATFORM_CLIENT_SECRET: 'the secret of the application',
};
