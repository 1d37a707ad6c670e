import { runService } from '@stream-events/service';
import { gateway } from './gateway.app.js';

await runService(gateway);
