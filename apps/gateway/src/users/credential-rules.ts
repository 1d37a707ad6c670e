/** What a user name may be. */
export const username = {
  pattern: /^[\w.@+-]{1,150}$/,
  fault: 'must be 1 to 150 letters, digits or any of @ . + - _',
};

/** How long a password may be, in characters; the upper bound only keeps hashing cheap. */
export const passwordLength = { min: 10, max: 1_000 };

/** What a user name is compared by: without the white space around it, in any case. */
export function toUsernameKey(username: string): string {
  return username.trim().toLowerCase();
}
