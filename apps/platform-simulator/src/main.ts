import { runService } from '@stream-events/service';
import { platformSimulator } from './platform-simulator.app.js';

await runService(platformSimulator);
