import type { EventType } from '@stream-events/platforms';
import type { Condition } from '../world/payloads/scene.js';

/** A user who must have granted one of these scopes to the application. */
export interface RequiredGrant {
  readonly userId: string;
  readonly oneOf: readonly string[];
}

/**
 * The grants that a subscription with an app access token needs (docs/platform-facts.md §5): one scope of each group from the user
 * who reads, and for chat also `user:bot` from that user and `channel:bot` from the broadcaster.
 */
export function listRequiredGrants(row: EventType, condition: Condition): RequiredGrant[] {
  const broadcasterId = condition.broadcaster_user_id;
  const readerId = condition.moderator_user_id ?? condition.user_id ?? broadcasterId;
  const forReading = row.scopes.map((oneOf) => ({ userId: readerId, oneOf }));
  const forBots = row.app_token_extra_scopes.map((scope) => {
    return { userId: scope === 'channel:bot' ? broadcasterId : readerId, oneOf: [scope] };
  });
  return [...forReading, ...forBots].flatMap(({ userId, oneOf }) =>
    userId === undefined ? [] : [{ userId, oneOf }],
  );
}
