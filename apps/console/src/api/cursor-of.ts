/** Returns the cursor in a link to another page of a list. Undefined if there is no link or no cursor. */
export function cursorOf(link: string | null): string | undefined {
  return (link && new URL(link).searchParams.get('cursor')) || undefined;
}
