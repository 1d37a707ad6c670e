// npm test: installs missing packages, builds changed projects, then runs all tests. npm run test:unit: runs only the unit tests, which
// need neither a build nor servers. Both commands pass their arguments to Jest: npm test -- <path pattern>.
import { runJest } from './jest.mjs';
import { install, prepare } from './prepare.mjs';

const args = process.argv.slice(2);
if (args[0] === '--unit') {
  install();
  // The option takes all values that follow, so it must come last.
  runJest([...args.slice(1), '--selectProjects', 'unit']);
} else {
  prepare();
  runJest(args);
}
