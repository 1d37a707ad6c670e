import { tmpdir } from 'node:os';
import { PageFiles } from './page-files.js';

describe(PageFiles.name, () => {
  it.each(['console', 'overlay'] as const)('explains what to do when the %s was not built', (app) => {
    const sut = new PageFiles(app, `${tmpdir()}/there-are-no-apps/`);
    for (const path of ['', 'events', 'assets/index.js'])
      expect(() => sut.find(path)).toThrow(`Build it with: npx nx build ${app}`);
  });
});
