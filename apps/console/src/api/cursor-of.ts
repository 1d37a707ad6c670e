/** Returns the cursor in a page link; undefined without a link or cursor. */
export function cursorOf(link: string | null): string | undefined {
  return (link && new URL(link).searchParams.get('cursor')) || undefined;
}
