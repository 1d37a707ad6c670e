// npm run bench, bench:live, faults, live-trial, platform-trial: installs and builds what is missing, then runs the trial; arguments go to it.
import { prepare, root, run } from './prepare.mjs';

prepare();
const [name, ...rest] = process.argv.slice(2);
run(process.execPath, [`${root}apps/system-tests/dist/${name}.js`, ...rest]);
