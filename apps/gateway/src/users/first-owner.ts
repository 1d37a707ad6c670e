import type { Logger } from '@stream-events/service';
import type { GatewayConfig } from '../gateway.config.js';
import type { UsersService } from './users.service.js';

type OwnerVariables = Pick<GatewayConfig, 'OWNER_USERNAME' | 'OWNER_PASSWORD'>;

/** @throws Error when only one of the two variables is set */
export function checkOwnerVariables({ OWNER_USERNAME, OWNER_PASSWORD }: OwnerVariables): void {
  if (Boolean(OWNER_USERNAME) !== Boolean(OWNER_PASSWORD))
    throw new Error('Set OWNER_USERNAME and OWNER_PASSWORD together: only one of them is set.');
}

/**
 * Creates the owner that the environment variables name, and returns the name and main token. Does nothing if an owner exists. If there is
 * no owner and the variables are not set, logs a warning.
 */
export async function createFirstOwner(
  users: UsersService,
  { OWNER_USERNAME, OWNER_PASSWORD }: OwnerVariables,
  logger: Logger,
): Promise<{ username: string; token: string } | undefined> {
  if (OWNER_USERNAME && OWNER_PASSWORD) {
    const created = await users.ensureOwner(OWNER_USERNAME, OWNER_PASSWORD);
    return created && { username: created.user.username, token: created.token };
  }
  if (!(await users.hasOwner()))
    logger.warn(
      'no owner exists, so owner-only operations are unavailable. Set OWNER_USERNAME and OWNER_PASSWORD, or run the gateway’s command reset-owner, which creates an owner',
    );
  return undefined;
}
