/** Audit log actions, with their descriptions for the API. The part before the dot names the kind of object. */
export const auditActions = {
  'user.logged_in': 'a user logged in',
  'user.login_failed':
    'a login, a password change, or a token rotation was refused: wrong user name or password, or the user is disabled',
  'user.created': 'a user was registered',
  'user.enabled': 'a user was enabled',
  'user.disabled': 'a user was disabled',
  'user.made_owner': 'a user got the role `owner`',
  'user.made_user': 'a user got the role `user`',
  'user.deleted': 'a user was deleted',
  'user.password_changed': 'a user changed their password',
  'user.recovered':
    'an owner got a new password from `npm run owner:reset`, or from the command `reset-owner` of a gateway',
  'token.rotated': 'a user rotated their main token',
  'token.created': 'a named token was created',
  'token.updated': 'a named token was changed',
  'token.revoked': 'a token was revoked, or a session was ended',
  'streamer.event_types_chosen': 'the event types of a streamer were chosen',
  'streamer.deleted': 'a streamer and its streams were deleted',
  'scope.deleted': 'a scope was deleted',
  'api_endpoint.deleted': 'an API endpoint was deleted',
  'event_type.activated': 'an event type was activated',
  'event_type.deactivated': 'an event type was deactivated',
  'connection.started': 'a connection to a channel or bot account was started',
  'connection.completed': 'a user gave consent on the platform, and the channel or bot account is connected',
  'connection.removed': 'a connection to a channel or bot account was removed',
  'platform_call.sent':
    'a call that changes something was sent to the platform, which accepted it or may have accepted it; chat messages are not recorded',
  'dead_letter.retried': 'a dead letter was retried successfully',
  'dead_letter.discarded': 'a dead letter was discarded',
  'replay.started': 'a replay of a range of events was started',
  'erasure.started': 'the erasure of a platform user was started',
  'erasure.dry_run_started': 'the dry run of an erasure was started',
  'replay.removed': 'a replay of a range of events was canceled or deleted',
  'rehearsal.started': 'a rehearsal was started',
} as const;

export type AuditAction = keyof typeof auditActions;

export function isAuditAction(text: string): text is AuditAction {
  return Object.hasOwn(auditActions, text);
}

/** Formats the actions as a Markdown list for the API description. */
export function printAuditActions(): string {
  return Object.entries(auditActions)
    .map(([action, description]) => `- \`${action}\`: ${description}`)
    .join('\n');
}
