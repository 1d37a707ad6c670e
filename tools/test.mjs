// npm test: installs and builds what is missing, then runs every test. npm run test:unit: only the unit tests, which need no
// build and no servers. Arguments go to Jest: npm test -- <path pattern>.
import { install, prepare, root, run } from './prepare.mjs';

const [kind, ...rest] = process.argv.slice(2);
const isUnit = kind === '--unit';
if (isUnit) install();
else prepare();
run(process.execPath, [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  `${root}node_modules/jest/bin/jest.js`,
  ...(isUnit ? ['--selectProjects', 'unit', ...rest] : process.argv.slice(2)),
]);
