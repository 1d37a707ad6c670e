// The messages of Chromium and Firefox, of Safari, and of Vite, which loads a page's styles before its script.
const messages = /dynamically imported module|^Importing a module script failed|^Unable to preload CSS/;

/** Whether a script or a style sheet could not be loaded. After an upgrade of the service, the files of the old page no longer exist. */
export function isMissingFile(error: unknown): boolean {
  return error instanceof Error && messages.test(error.message);
}
