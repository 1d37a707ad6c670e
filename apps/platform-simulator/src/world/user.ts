/** A user with an account. The id never changes; login and display name can. */
export interface User {
  readonly id: string;
  login: string;
  /** Display name: the login in the user's preferred spelling. */
  name: string;
  readonly createdAt: string;
}

/** A user in a response of the platform (docs/platform-facts.md §4.4). */
export interface UserView {
  id: string;
  login: string;
  display_name: string;
  type: string;
  broadcaster_type: string;
  description: string;
  profile_image_url: string;
  offline_image_url: string;
  view_count: number;
  created_at: string;
}

/** Converts a user to a response. `host` is the address at which the client reaches the simulator. */
export function viewUser({ id, login, name, createdAt }: User, host: string): UserView {
  return {
    id,
    login,
    display_name: name,
    type: '',
    broadcaster_type: '',
    description: 'A simulated user who does not exist.',
    profile_image_url: `http://${host}/pictures/users/${id}.png`,
    offline_image_url: '',
    view_count: 0, // the platform no longer counts views
    created_at: createdAt,
  };
}
