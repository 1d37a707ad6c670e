// npm run secrets -- rotate | rotate-subscriber | add-webhook-secret | end-webhook-secret: replaces a secret that npm start generated. Run
// it on the machine of the service.
import { prepare } from './prepare.mjs';

prepare();
const { runSecrets } = await import('../apps/all-in-one/dist/secrets.js');
await runSecrets(process.argv[2]);
