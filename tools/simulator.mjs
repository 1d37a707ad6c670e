// npm run simulator -- <command>: controls a running simulation of the platform; without a command it says how.
import { existsSync } from 'node:fs';
import { prepare, root } from './prepare.mjs';

const built = `${root}apps/platform-simulator/dist/cli.js`;
if (!existsSync(built)) prepare();
await import(built);
