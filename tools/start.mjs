// npm start: installs missing packages, builds changed projects, then runs everything in this process.
import { prepare } from './prepare.mjs';

process.stdout.write('\nStream Event Service\n\n');
prepare();
await import('../apps/all-in-one/dist/main.js');
