// npm run owner:reset: sets a new password and token for an owner who lost them. Stop npm start first, and run the command on the machine
// of the service.
import { prepare } from './prepare.mjs';

prepare();
const { runOwnerReset } = await import('../apps/all-in-one/dist/owner-reset.js');
await runOwnerReset();
