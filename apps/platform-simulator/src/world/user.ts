/** A user with an account. The id is fixed; login and display name can change. */
export interface User {
  readonly id: string;
  login: string;
  /** The login in the user's preferred spelling. */
  name: string;
  readonly createdAt: string;
}

/** A user as the platform's API returns it (docs/platform-facts.md §4.4). */
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

/** @param host host and port at which the client reached the simulator */
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
