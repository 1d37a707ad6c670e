// Prints the keys that identify users as a TypeScript module, for the libraries that may not import the platform's catalogue.

/** @param table the keys by role, for example `condition.user_id`. `user_*` stands for `user_id`, `user_login`, and `user_name` */
export function printIdentityKeys(table) {
  const members = Object.entries(table).map(
    ([role, places]) => `${role}: [${places.map((place) => JSON.stringify(parsePlace(place))).join(', ')}],`,
  );
  return `// Written by npm run generate from libs/platforms/src/twitch/catalogue/identity-keys.json.

/** What a user or channel is to an event. */
export type IdentityRole = ${Object.keys(table)
    .map((role) => `'${role}'`)
    .join(' | ')};

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
 * \`other\` can be at any depth of the data.
 */
export const identityKeys: Readonly<Record<IdentityRole, readonly IdentityKeys[]>> = {
${members.join('\n')}
};
`;
}

function parsePlace(place) {
  const path = place.split('.');
  const [key, prefix, part] = /^(.+)_(\*|id)$/.exec(path.pop());
  return part === '*'
    ? { path, id: `${prefix}_id`, login: `${prefix}_login`, name: `${prefix}_name` }
    : { path, id: key };
}
