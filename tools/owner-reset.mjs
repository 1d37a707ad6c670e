// npm run owner:reset: a new password and token for an owner who lost them, on the machine itself.
import { prepare } from './prepare.mjs';

prepare();
const { runOwnerReset } = await import('../apps/all-in-one/dist/owner-reset.js');
await runOwnerReset();
