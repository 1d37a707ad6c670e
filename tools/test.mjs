// npm test: installs and builds what is missing, then runs every test; arguments go to Jest.
import { prepare, root, run } from './prepare.mjs';

prepare();
const jest = `${root}node_modules/jest/bin/jest.js`;
run(process.execPath, [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  jest,
  ...process.argv.slice(2),
]);
