/** The rule for user names: for the first owner in the configuration, and for users in the API. */
export const usernameRule = {
  pattern: /^[\w.@+-]{1,150}$/,
  fault: 'must be 1 to 150 letters, digits, or any of @ . + - _',
};

/** The allowed length of a password, in characters. The maximum only keeps hashing cheap. */
export const passwordLength = { min: 10, max: 1_000 };
