// npm run restore -- FILE: restores a backup into a stopped installation.
import { prepare } from './prepare.mjs';

prepare(['--exclude=tag:type:page']);
const { runRestore } = await import('../apps/all-in-one/dist/backup/run-restore.js');
await runRestore(process.argv.slice(2));
