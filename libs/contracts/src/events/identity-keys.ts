// Written by npm run generate from libs/platforms/src/twitch/catalogue/identity-keys.json.

/** What a user or channel is to an event. */
export type IdentityRole = 'actor' | 'channel' | 'raider' | 'raided' | 'target' | 'moderator' | 'other';

/** Keys that identify one user or channel. */
export interface IdentityKeys {
  /** Keys of the objects around the keys. */
  path: readonly string[];
  id: string;
  login?: string;
  name?: string;
}

/**
 * Keys that identify users and channels, by role and in order of precedence (FACTS.md §5.3). An identity with the role
 * `other` can be at any depth of the data.
 */
export const identityKeys: Readonly<Record<IdentityRole, readonly IdentityKeys[]>> = {
  actor: [
    { path: [], id: 'user_id', login: 'user_login', name: 'user_name' },
    { path: [], id: 'chatter_user_id', login: 'chatter_user_login', name: 'chatter_user_name' },
    { path: ['data', 'message'], id: 'user_id', login: 'user_login', name: 'user_name' },
    { path: ['message'], id: 'user_id', login: 'user_login', name: 'user_name' },
    {
      path: [],
      id: 'from_broadcaster_user_id',
      login: 'from_broadcaster_user_login',
      name: 'from_broadcaster_user_name',
    },
    { path: [], id: 'from_user_id', login: 'from_user_login', name: 'from_user_name' },
  ],
  channel: [
    { path: [], id: 'broadcaster_user_id', login: 'broadcaster_user_login', name: 'broadcaster_user_name' },
    { path: [], id: 'broadcaster_id', login: 'broadcaster_login', name: 'broadcaster_name' },
    { path: ['condition'], id: 'broadcaster_user_id' },
    { path: ['condition'], id: 'broadcaster_id' },
    { path: ['condition'], id: 'to_broadcaster_user_id' },
    { path: ['condition'], id: 'from_broadcaster_user_id' },
    { path: ['condition'], id: 'user_id' },
  ],
  raider: [
    {
      path: [],
      id: 'from_broadcaster_user_id',
      login: 'from_broadcaster_user_login',
      name: 'from_broadcaster_user_name',
    },
  ],
  raided: [
    {
      path: [],
      id: 'to_broadcaster_user_id',
      login: 'to_broadcaster_user_login',
      name: 'to_broadcaster_user_name',
    },
  ],
  target: [
    { path: [], id: 'target_user_id', login: 'target_user_login', name: 'target_user_name' },
    {
      path: [],
      id: 'to_broadcaster_user_id',
      login: 'to_broadcaster_user_login',
      name: 'to_broadcaster_user_name',
    },
    { path: [], id: 'to_user_id', login: 'to_user_login', name: 'to_user_name' },
    { path: [], id: 'guest_user_id', login: 'guest_user_login', name: 'guest_user_name' },
  ],
  moderator: [
    { path: [], id: 'moderator_user_id', login: 'moderator_user_login', name: 'moderator_user_name' },
    { path: [], id: 'moderator_id', login: 'moderator_login', name: 'moderator_name' },
    { path: ['condition'], id: 'moderator_user_id' },
  ],
  other: [
    { path: [], id: 'requester_user_id', login: 'requester_user_login', name: 'requester_user_name' },
    { path: [], id: 'host_user_id', login: 'host_user_login', name: 'host_user_name' },
    {
      path: [],
      id: 'host_broadcaster_user_id',
      login: 'host_broadcaster_user_login',
      name: 'host_broadcaster_user_name',
    },
    {
      path: [],
      id: 'source_broadcaster_user_id',
      login: 'source_broadcaster_user_login',
      name: 'source_broadcaster_user_name',
    },
    {
      path: [],
      id: 'owner_broadcaster_user_id',
      login: 'owner_broadcaster_user_login',
      name: 'owner_broadcaster_user_name',
    },
    { path: [], id: 'parent_user_id', login: 'parent_user_login', name: 'parent_user_name' },
    { path: [], id: 'thread_user_id', login: 'thread_user_login', name: 'thread_user_name' },
    { path: [], id: 'gifter_user_id', login: 'gifter_user_login', name: 'gifter_user_name' },
    { path: [], id: 'recipient_user_id', login: 'recipient_user_login', name: 'recipient_user_name' },
    { path: [], id: 'owner_id' },
  ],
};
