/** Fields of bodies in the contract's branded spelling, by their canonical, neutral name (those of paths: `paths.ts`). */
const aliases: ReadonlyMap<string, string> = new Map([['platform_username', 'twitch_username']]);

/** The name by which a body brings a field along: its own, which wins, or its alias; undefined when it does not. */
export function sentNameOf(field: string, body: object): string | undefined {
  if (Object.hasOwn(body, field)) return field;
  const alias = aliases.get(field);
  return alias !== undefined && Object.hasOwn(body, alias) ? alias : undefined;
}
