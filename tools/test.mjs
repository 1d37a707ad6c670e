// Runs tests, with arguments for Jest: npm test -- <path pattern>. Installs missing packages first, and builds changed projects unless only
// unit tests run.
//
//   npm test             unit and integration tests, and the central end-to-end specs
//   npm run test:unit    unit tests, which need neither a build nor servers
//   npm run test:all     all tests except those with peers
//   npm run test:rest    what `npm test` leaves out of these
//   npm run test:peers   tests with programs of others, which it downloads
import { runJest, tiers } from './jest.mjs';
import { install, prepare } from './prepare.mjs';

const [tier, ...args] = process.argv.slice(2);
if (tier === '--unit') install();
else prepare();
// Unit tests do not wait, and every worker loads all packages. The rest starts browsers and whole installations, which take a core each.
const workers = { '--unit': ['--maxWorkers=3'], '--rest': ['--maxWorkers=5'] };
// Jest's last option takes all values that follow.
runJest([...(workers[tier] ?? []), ...args, '--selectProjects', ...tiers[tier]]);
