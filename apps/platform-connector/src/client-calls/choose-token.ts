import { ServiceError } from '@stream-events/contracts';
import type { ApiEndpoint } from '@stream-events/platforms';
import type { Connection } from '../connections/connection.entity.js';

/** The part of a connection that decides whether a call can use its token. */
export type CallerConnection = Pick<Connection, 'id' | 'state' | 'userId' | 'login' | 'scopes' | 'remedy'>;

/** The connection and the users that a call names. They decide whose token the call uses. */
export interface TokenWish {
  /** The connection that the client names; null when it names none. */
  connectionId: string | null;
  /** The acting users, from the call's query and body. */
  actors: readonly string[];
  /** Whether the application has a token of its own. A public application has none. */
  hasAppToken: boolean;
}

/**
 * Chooses the connection whose token a call uses. Returns null for the application's own token.
 *
 * ```
 *  the endpoint accepts      with ?connection=   the acting user          otherwise
 *                                                is connected
 *  app, none                 400                 app                      app
 *  app_or_user               that user           app                      app
 *  app_with_grant_or_user    that user           that user, if the        app
 *                                                scope is granted
 *  user                      that user           that user                the only connection, if the call names no user; else 400
 * ```
 *
 * An application without a token uses the token of a connected user wherever the endpoint takes one: of the acting user if connected with the
 * scope, otherwise of the only connection.
 *
 * @throws ServiceError `invalid` when `connection` is missing, unknown, or not allowed, `forbidden` when the user has not granted the
 * scope, `conflict` when the connection that the client names is not connected
 */
export function chooseToken<C extends CallerConnection>(
  endpoint: Pick<ApiEndpoint, 'auth' | 'scopes_any_of'>,
  { connectionId, actors, hasAppToken }: TokenWish,
  connections: readonly C[],
): C | null {
  const { auth } = endpoint;
  const takesUser = auth !== 'app' && auth !== 'none';
  if (connectionId !== null) {
    if (!takesUser)
      throw ServiceError.onField(
        'connection',
        'this endpoint accepts only the application’s token: omit `connection`',
      );
    return withScope(endpoint, findNamed(connectionId, connections));
  }
  if (!takesUser || (auth === 'app_or_user' && hasAppToken)) return null;
  const connected = connections.filter(({ state }) => state === 'connected');
  const acting = findActing(endpoint, actors, connected);
  if (auth === 'user') return withScope(endpoint, acting ?? findOnly(actors, connected));
  if (acting && hasScope(endpoint, acting)) return acting;
  return hasAppToken ? null : withScope(endpoint, findOnly([], connected));
}

function findNamed<C extends CallerConnection>(id: string, connections: readonly C[]): C {
  const named = connections.find((connection) => connection.id === id);
  if (!named) throw ServiceError.onField('connection', 'is not the id of a connection');
  if (named.state === 'connected') return named;
  throw new ServiceError(
    'conflict',
    `Connection ${id} has the state ${named.state}. ${named.remedy ?? 'Wait until the user has given consent.'}`,
  );
}

/**
 * Finds the connection of the acting user, or undefined when that user is not connected. A user can have two connections: as a channel and
 * as the bot account. If so, prefers a connection with the scope.
 *
 * @throws ServiceError `invalid` when the call names several users
 */
function findActing<C extends CallerConnection>(
  endpoint: Pick<ApiEndpoint, 'scopes_any_of'>,
  actors: readonly string[],
  connected: readonly C[],
): C | undefined {
  if (actors.length > 1)
    throw ServiceError.onField(
      'connection',
      `the call names several acting users (${actors.join(', ')}): name one user, or set \`connection\` to the id of a connection`,
    );
  const acting = connected.filter(({ userId }) => userId !== null && actors.includes(userId));
  return acting.find((connection) => hasScope(endpoint, connection)) ?? acting[0];
}

/**
 * Returns the only connection if exactly one is connected and the call names no user. In all other cases, throws an error that says what to
 * do.
 */
function findOnly<C extends CallerConnection>(actors: readonly string[], connected: readonly C[]): C {
  const [only, ...others] = connected;
  if (!only)
    throw ServiceError.onField(
      'connection',
      'this endpoint needs a user’s token, and no channel is connected: connect a channel with POST /api/v1/platform/connections',
    );
  const [actor] = actors;
  if (actor !== undefined)
    throw ServiceError.onField(
      'connection',
      `user ${actor} is not connected: connect this user, or set \`connection\` to the id of a connection whose user may make this call`,
    );
  if (others.length === 0) return only;
  throw ServiceError.onField(
    'connection',
    `this endpoint needs a user’s token, and several channels are connected: set \`connection\` to the id of a connection (${connected.map(({ id, login }) => `${login ?? 'unknown'}: ${id}`).join(', ')})`,
  );
}

function withScope<C extends CallerConnection>(
  endpoint: Pick<ApiEndpoint, 'scopes_any_of'>,
  connection: C,
): C {
  if (hasScope(endpoint, connection)) return connection;
  throw new ServiceError(
    'forbidden',
    `${connection.login ?? connection.id} has not granted ${endpoint.scopes_any_of.join(' or ')}. Connect this user again with the scope.`,
  );
}

function hasScope(
  { scopes_any_of: wanted }: Pick<ApiEndpoint, 'scopes_any_of'>,
  { scopes }: CallerConnection,
): boolean {
  return wanted.length === 0 || wanted.some((scope) => scopes.includes(scope));
}
