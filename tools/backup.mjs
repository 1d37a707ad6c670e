// npm run backup -- FILE: copies all data of the service into one file. The service can keep running.
import { prepare } from './prepare.mjs';

prepare(['--exclude=tag:type:page']);
const { runBackup } = await import('../apps/all-in-one/dist/backup/run-backup.js');
await runBackup(process.argv.slice(2));
