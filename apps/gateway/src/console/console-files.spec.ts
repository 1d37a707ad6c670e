import { tmpdir } from 'node:os';
import { ConsoleFiles } from './console-files.js';

describe(ConsoleFiles.name, () => {
  it('explains what to do when the console was not built', () => {
    const sut = new ConsoleFiles(`${tmpdir()}/there-is-no-console/`);
    for (const path of ['', 'events', 'assets/index.js'])
      expect(() => sut.find(path)).toThrow('Build it with: npx nx build console');
  });
});
