import { isMissingFile } from './missing-file.js';

describe(isMissingFile.name, () => {
  it.each([
    'Failed to fetch dynamically imported module: http://127.0.0.1:8000/assets/streams.page-x.js', // Chromium
    'error loading dynamically imported module: http://127.0.0.1:8000/assets/streams.page-x.js', // Firefox
    'Importing a module script failed.', // Safari
    'Unable to preload CSS for /assets/platform.page-x.css', // Vite
  ])('recognizes "%s"', (message) => {
    expect(isMissingFile(new Error(message))).toBe(true);
  });

  it.each([new TypeError('x is not a function'), 'Importing a module script failed.', undefined])(
    'does not recognize %p',
    (error) => {
      expect(isMissingFile(error)).toBe(false);
    },
  );
});
