/** Someone with an account. The id never changes; login and display name can. */
export interface User {
  readonly id: string;
  login: string;
  /** As it is shown: the login in the spelling that its owner likes. */
  name: string;
  readonly createdAt: string;
}

/** A user as the platform answers (docs/platform-facts.md §4.4). */
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

/** What the platform tells about a user. */
export function viewUser({ id, login, name, createdAt }: User): UserView {
  return {
    id,
    login,
    display_name: name,
    type: '',
    broadcaster_type: '',
    description: 'Somebody in a simulation, who does not exist.',
    profile_image_url: `https://simulation.invalid/users/${id}.png`,
    offline_image_url: '',
    view_count: 0, // the platform no longer counts
    created_at: createdAt,
  };
}
