/** Returns the cursor of a link to another page of a list. */
export function cursorOf(link: string | null): string | undefined {
  return (link && new URL(link).searchParams.get('cursor')) || undefined;
}
