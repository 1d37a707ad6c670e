/** Neutral field names and the branded aliases that the API contract requires. `paths.ts` has the path aliases. */
const aliases: ReadonlyMap<string, string> = new Map([['platform_username', 'twitch_username']]);

export function aliasOf(field: string): string | undefined {
  return aliases.get(field);
}

/** Finds the name that a body uses for a field: the neutral name if present, else the alias. Undefined if the body contains neither. */
export function sentNameOf(field: string, body: object): string | undefined {
  if (Object.hasOwn(body, field)) return field;
  const alias = aliases.get(field);
  return alias !== undefined && Object.hasOwn(body, alias) ? alias : undefined;
}
