import type { EventType } from '@stream-events/platforms';
import type { Condition } from '../world/payloads/scene.js';

/** The user must have granted at least one of these scopes to the application. */
export interface RequiredGrant {
  readonly userId: string;
  readonly oneOf: readonly string[];
}

/**
 * Lists the grants that a subscription needs (docs/platform-facts.md §5). The user who reads must grant one scope from each list in
 * `row.scopes`. With an app access token, chat also needs `user:bot` from that user and `channel:bot` from the broadcaster.
 */
export function listRequiredGrants(
  row: EventType,
  condition: Condition,
  tokenKind: 'app' | 'user',
): RequiredGrant[] {
  const broadcasterId = condition.broadcaster_user_id;
  const readerId = condition.moderator_user_id ?? condition.user_id ?? broadcasterId;
  const forReading = row.scopes.map((oneOf) => ({ userId: readerId, oneOf }));
  const botScopes = tokenKind === 'app' ? row.app_token_extra_scopes : [];
  const forBots = botScopes.map((scope) => {
    return { userId: scope === 'channel:bot' ? broadcasterId : readerId, oneOf: [scope] };
  });
  return [...forReading, ...forBots].flatMap(({ userId, oneOf }) =>
    userId === undefined ? [] : [{ userId, oneOf }],
  );
}
