// npm run attack, bench, bench:live, bench:quick, bench:store, chaos, chaos:cluster, chaos:conduit, chaos:live, test:containers: prepares the
// repository, then runs the system test with the given arguments.
import { prepare, root, run } from './prepare.mjs';

prepare();
const [name, ...rest] = process.argv.slice(2);
run(process.execPath, [`${root}apps/system-tests/dist/${name}.js`, ...rest]);
