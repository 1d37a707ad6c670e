/** The words after the user's name, by action. Newer services can have actions that are not listed here. */
const phrases: Record<string, string> = {
  'user.logged_in': 'logged in',
  'user.login_failed': 'was refused access: wrong password or disabled user',
  'user.created': 'created the user',
  'user.enabled': 'enabled the user',
  'user.disabled': 'disabled the user',
  'user.made_owner': 'gave the owner role to',
  'user.made_user': 'removed the owner role from',
  'user.deleted': 'deleted the user',
  'user.password_changed': 'changed the password',
  'user.recovered': 'got a new password from a command on the service’s machine',
  'token.rotated': 'rotated the main token',
  'token.created': 'created the token',
  'token.updated': 'changed the token',
  'token.revoked': 'revoked the token, or ended the session,',
  'streamer.deleted': 'deleted the streamer',
  'streamer.event_types_chosen': 'chose the event types of the streamer',
  'scope.deleted': 'deleted the scope',
  'api_endpoint.deleted': 'deleted the API endpoint',
  'event_type.activated': 'activated the event type',
  'event_type.deactivated': 'deactivated the event type',
  'connection.started': 'started to connect the channel',
  'connection.completed': 'gave consent on the platform for the connection',
  'connection.removed': 'removed the connection',
  'platform_call.sent': 'called the platform:',
  'dead_letter.retried': 'stored the dead letter',
  'dead_letter.discarded': 'discarded the dead letter',
  'replay.started': 'started the replay',
  'replay.removed': 'ended or deleted the replay',
  'rehearsal.started': 'started the rehearsal',
  'erasure.started': 'started the erasure',
  'erasure.dry_run_started': 'counted the records of a user for the erasure',
};

/** All actions, to choose one. */
export const actions = Object.keys(phrases).sort();

// In these actions, users act on themselves.
const withoutObject = /^user\.(logged_in|login_failed|password_changed|recovered)$|^token\.rotated$/;

/** Returns the words for an action, and whether the object's name must follow them. */
export function describeAction(action: string): { phrase: string; namesObject: boolean } {
  const [kind = '', verb = ''] = action.split('.');
  return {
    phrase: phrases[action] ?? `${verb.replaceAll('_', ' ')} (${kind.replaceAll('_', ' ')})`,
    namesObject: !withoutObject.test(action),
  };
}
