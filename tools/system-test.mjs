// npm run attack, bench, bench:backup, bench:live, bench:metrics, bench:quick, bench:store, bench:traces, chaos, chaos:cluster, chaos:conduit,
// chaos:live, fuzz, load:console, load:platform, test:containers: prepares the repository, then runs the system test with the given
// arguments.
import { prepare, root, run } from './prepare.mjs';

prepare();
const [name, ...rest] = process.argv.slice(2);
run(process.execPath, [`${root}apps/system-tests/dist/${name}.js`, ...rest]);
