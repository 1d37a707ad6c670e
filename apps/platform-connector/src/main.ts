import { runService } from '@stream-events/service';
import { platformConnector } from './platform-connector.app.js';

await runService(platformConnector);
