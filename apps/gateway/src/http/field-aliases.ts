/** Maps the neutral field names to the branded names that the contract requires. `paths.ts` contains the branded paths. */
const aliases: ReadonlyMap<string, string> = new Map([['platform_username', 'twitch_username']]);

/** Returns the alias of a field, if it has one. */
export function aliasOf(field: string): string | undefined {
  return aliases.get(field);
}

/** Returns the name under which a body contains a field: its own name (preferred) or its alias. Undefined if the body contains neither. */
export function sentNameOf(field: string, body: object): string | undefined {
  if (Object.hasOwn(body, field)) return field;
  const alias = aliases.get(field);
  return alias !== undefined && Object.hasOwn(body, alias) ? alias : undefined;
}
