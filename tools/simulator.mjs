// npm run simulator -- <command>: controls the simulated platform that npm start runs, or another one with --url. Without a command, prints
// help.
import { existsSync } from 'node:fs';
import { prepare } from './prepare.mjs';

const built = new URL('../apps/platform-simulator/dist/cli.js', import.meta.url);
if (!existsSync(built)) prepare();
await import(built.href);
