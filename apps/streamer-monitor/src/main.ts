import { runService } from '@stream-events/service';
import { streamerMonitor } from './streamer-monitor.app.js';

await runService(streamerMonitor);
