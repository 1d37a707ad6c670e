import { runService } from '@stream-events/service';
import { events } from './events.app.js';

await runService(events);
