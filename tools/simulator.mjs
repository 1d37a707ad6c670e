// npm run simulator -- <command>: controls the simulated platform that npm start runs; without a command prints help.
import { existsSync } from 'node:fs';
import { prepare, root } from './prepare.mjs';

const built = `${root}apps/platform-simulator/dist/cli.js`;
if (!existsSync(built)) prepare();
await import(built);
